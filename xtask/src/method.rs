//! The methods that experiments compare: one table with the name in legends and the look of each.

use crate::report::style::Marker::{Circle, Cross, Diamond, Down, Plus, Square, Up};
use crate::report::style::{
    BLUE, BROWN, DOTS, GOLD, GREEN, GREY, INK as BLACK, LONG, ORANGE, PURPLE, RED, SHORT, SKY,
    SOLID, Style, style,
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
    COLUMN_NORM, "column-norm", "column norms", style(PURPLE, Down, true, DOTS);
    RANK_K, "rank-k", "rank-k scores", style(RED, Square, false, SHORT);
    K_MEANS, "k-means", "k-means", style(GREEN, Circle, false, SHORT);
    APPROXIMATE_RANK_K, "approximate-rank-k", "approximate rank-k scores", style(BROWN, Square,
        true, LONG);
    ADAPTIVE, "adaptive", "full adaptive", style(PURPLE, Plus, true, LONG);
    ADAPTIVE_PARTIAL, "adaptive-partial", "partial adaptive", style(BROWN, Up, true, DOTS);
    GREEDY, "greedy", "greedy", style(ORANGE, Diamond, false, DOTS);
    RP_CHOLESKY, "rp-cholesky", "RPCholesky", style(RED, Up, true, SOLID);
    K_DPP, "k-dpp", "k-DPP", style(PURPLE, Diamond, true, SOLID);
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
    SPARSE_SIGN, "sparse-sign", "sparse sign", style(SKY, Diamond, false, DOTS);
    FALKON, "falkon", "Falkon", style(BLUE, Down, false, LONG);
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
