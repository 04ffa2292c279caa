//! The methods that experiments compare: one table with the name in legends and the look of each.
//!
//! What is no method but one quantity at growing values of a parameter is drawn in shades
//! (`level-1` to `level-6`, `accumulated-2` to `accumulated-32`).

use nystrom_page::style::Marker::{Circle, Cross, Diamond, Down, Plus, Square, Up};
use nystrom_page::style::{
    BLUE, BROWN, DOTS, GOLD, GREEN, GREY, INK as BLACK, LONG, ORANGE, PURPLE, RED, SHORT, SKY,
    SOLID, Style, UNKNOWN, style,
};

/// A method, or whatever else a series of a plot shows.
#[derive(Debug, Clone, Copy)]
pub struct Method {
    /// Fixes its look in every plot, and tells it from other methods.
    pub key: &'static str,
    /// Its name in legends and tables.
    pub name: &'static str,
}

impl Method {
    /// The same under the name that the paper at hand has for it: `UNIFORM.called("uniform
    /// (Vanilla)")`.
    pub const fn called(self, name: &'static str) -> Self {
        Method { name, ..self }
    }
}

impl PartialEq for Method {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

/// Not a method: what belongs to the problem itself, such as λ or d_eff.
pub const PROBLEM: Method = Method { key: "", name: "" };

macro_rules! methods {
    ($($id:ident, $key:literal, $name:literal, $style:expr;)*) => {
        $(pub const $id: Method = Method { key: $key, name: $name };)*
        /// Every method with its look.
        pub const ALL: &[(Method, Style)] = &[$(($id, $style)),*];
    };
}

methods! {
    // what others are measured against
    EXACT, "exact", "exact regression", style(BLACK, Circle, true, SOLID);
    PAPER, "paper", "the paper", style(BLACK, Square, false, SHORT);
    THEORY, "theory", "theory", style(GREY, Cross, false, DOTS);
    // selectors of landmarks
    UNIFORM, "uniform", "uniform", style(ORANGE, Square, true, LONG);
    UNIFORM_FEWER, "uniform-fewer", "uniform, fewer", style(GOLD, Square, false, LONG);
    LEVERAGE, "leverage", "exact scores", style(BLUE, Circle, true, SOLID);
    FAST_LEVERAGE, "fast-leverage", "Alaoui–Mahoney", style(SKY, Up, true, SHORT);
    DIAGONAL, "diagonal", "diagonal", style(GREEN, Diamond, true, DOTS);
    RANK_K, "rank-k", "rank-k scores", style(RED, Square, false, SHORT);
    K_MEANS, "k-means", "k-means", style(GREEN, Circle, false, SHORT);
    APPROXIMATE_RANK_K, "approximate-rank-k", "approximate rank-k scores", style(BROWN, Square,
        true, LONG);
    ADAPTIVE, "adaptive", "full adaptive", style(PURPLE, Plus, true, LONG);
    ADAPTIVE_PARTIAL, "adaptive-partial", "partial adaptive", style(BROWN, Up, true, DOTS);
    GREEDY, "greedy", "greedy", style(ORANGE, Diamond, false, DOTS);
    RP_CHOLESKY, "rp-cholesky", "RPCholesky", style(RED, Up, true, SOLID);
    K_DPP, "k-dpp", "k-DPP", style(PURPLE, Diamond, true, SOLID);
    K_DPP_EXACT, "k-dpp-exact", "k-DPP, exact", style((20, 110, 120), Plus, true, LONG);
    K_DPP_REJECTION, "k-dpp-rejection", "rejection", style((190, 80, 140), Square, true, SHORT);
    DPPY, "dppy", "DPPy", style((130, 120, 30), Cross, true, LONG);
    DPPY_ALPHA, "dppy-alpha", "DPPy, alpha", style((130, 120, 30), Up, true, DOTS);
    // estimators of leverage scores
    RECURSIVE, "recursive", "Recursive-RLS", style(GREEN, Down, true, LONG);
    BLESS, "bless", "BLESS", style(PURPLE, Up, false, SHORT);
    RECURSIVE_SIZE, "recursive-size", "Recursive-RLS, given size", style(GREY, Down, true, LONG);
    BLESS_CAPPED, "bless-capped", "BLESS, capped", style(GOLD, Up, true, DOTS);
    BLESS_R, "bless-r", "BLESS-R", style(GREY, Up, false, SHORT);
    DISQUEAK, "disqueak", "DISQUEAK", style(BLUE, Cross, true, SHORT);
    SQUEAK, "squeak", "SQUEAK", style(SKY, Cross, true, SOLID);
    INK, "ink", "INK-Estimate", style(BROWN, Diamond, true, SHORT);
    SPECTRAL, "spectral", "SA", style(RED, Diamond, true, LONG);
    SPECTRAL_TREE, "spectral-tree", "SA, tree density", style(ORANGE, Up, true, SOLID);
    SPECTRAL_AVERAGE, "spectral-average", "SA, averaged", style(SKY, Square, true, LONG);
    SPECTRAL_TRUE, "spectral-true", "SA, true density", style(BLUE, Diamond, false, DOTS);
    SPECTRAL_TUNED, "spectral-tuned", "SA, tuned density", style(GOLD, Diamond, true, SOLID);
    SPECTRAL_EDGE, "spectral-edge", "SA, at the edge", style(BROWN, Down, true, SOLID);
    SPECTRAL_TRUE_EDGE, "spectral-true-edge", "SA, true density, at the edge", style(BLACK,
        Diamond, false, DOTS);
    // sketches and solvers
    GAUSSIAN_SKETCH, "gaussian-sketch", "Gaussian sketch", style(GREEN, Square, true, SOLID);
    ACCUMULATED, "accumulated", "accumulation", style(RED, Circle, false, DOTS);
    ACCUMULATED_2, "accumulated-2", "accumulation, m = 2", style((128, 180, 212), Up, true, SOLID);
    ACCUMULATED_4, "accumulated-4", "accumulation, m = 4", style((95, 160, 205), Diamond, true,
        LONG);
    ACCUMULATED_8, "accumulated-8", "accumulation, m = 8", style((66, 146, 198), Down, true, SHORT);
    ACCUMULATED_16, "accumulated-16", "accumulation, m = 16", style((33, 113, 181), Plus, true,
        LONG);
    ACCUMULATED_32, "accumulated-32", "accumulation, m = 32", style((8, 69, 148), Cross, true,
        SHORT);
    VERY_SPARSE, "very-sparse", "very sparse (VSRP)", style(GREY, Square, true, SOLID);
    DIVIDE_AND_CONQUER, "divide-and-conquer", "divide and conquer", style(ORANGE, Cross, true,
        SHORT);
    // values of a parameter, from small to large
    LEVEL_1, "level-1", "level 1", style((188, 160, 220), Circle, false, DOTS);
    LEVEL_2, "level-2", "level 2", style((158, 120, 200), Square, true, SHORT);
    LEVEL_3, "level-3", "level 3", style((128, 80, 180), Diamond, true, LONG);
    LEVEL_4, "level-4", "level 4", style((98, 45, 155), Up, true, SOLID);
    LEVEL_5, "level-5", "level 5", style((70, 15, 125), Down, false, SHORT);
    LEVEL_6, "level-6", "level 6", style((45, 0, 90), Circle, true, SOLID);
}

/// The look of a method by its key; grey dots for a key which no method has.
pub fn look(key: &str) -> Style {
    ALL.iter().find(|(method, _)| method.key == key).map_or(UNKNOWN, |&(_, style)| style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_methods_share_a_line_or_a_marker() {
        for (i, (Method { key, .. }, a)) in ALL.iter().enumerate() {
            for (Method { key: other, .. }, b) in &ALL[..i] {
                assert_ne!(key, other);
                assert!((a.colour, a.dash) != (b.colour, b.dash), "{key} and {other}: same line");
                assert!(
                    (a.colour, a.marker) != (b.colour, b.marker),
                    "{key} and {other}: same marker"
                );
            }
        }
    }

    /// Contrast as WCAG defines it.
    fn contrast(a: (u8, u8, u8), b: (u8, u8, u8)) -> f64 {
        let channel = |c: u8| match f64::from(c) / 255.0 {
            c if c <= 0.04045 => c / 12.92,
            c => ((c + 0.055) / 1.055).powf(2.4),
        };
        let luminance = |(r, g, b)| 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
        let (a, b): (f64, f64) = (luminance(a) + 0.05, luminance(b) + 0.05);
        a.max(b) / a.min(b)
    }

    #[test]
    fn every_colour_is_seen_on_both_pages() {
        let css = nystrom_page::STYLE;
        for (Method { key, .. }, style) in ALL.iter().filter(|(_, style)| style.colour != BLACK) {
            assert!(contrast(style.colour, (255, 255, 255)) > 2.0, "{key} on white");
            let lightened = ["stroke", "fill"]
                .iter()
                .all(|what| css.contains(&format!("[{what}=\"{}\"]", style.ink())));
            assert!(lightened || contrast(style.colour, (0x14, 0x17, 0x1b)) > 3.0, "{key} on dark");
        }
    }
}
