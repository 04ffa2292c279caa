//! The legend of a plot, which is placed outside the drawing, and SVG files that hold a plot and
//! its legend.

use maud::{Markup, PreEscaped, html};

use crate::draw::{self, HEIGHT, NotDrawn, RADIUS, WIDTH, px};
use crate::plot::{Direction, Kind, Plot};
use crate::style::{self, Look, Style};

/// Width and height of a sample, the piece of line and the marker beside a name, in units of the
/// page.
const SAMPLE: (f64, f64) = (36.0, 14.0);
/// Height of a line of the legend in [`standalone`], in units of the page.
const LINE: f64 = 22.0;

/// One line of the legend.
struct Item<'a> {
    name: &'a str,
    sample: Markup,
}

fn items(plot: &Plot, look: Look) -> Vec<Item<'_>> {
    let series = plot.series.iter().map(|series| {
        let style = look(&series.method);
        Item { name: &series.name, sample: sample(&style, series.kind) }
    });
    let lines = plot.lines.iter().enumerate().map(|(i, line)| Item {
        name: &line.name,
        sample: rule(line.direction, "#808080", 1.5, style::reference(i)),
    });
    series.chain(lines).collect()
}

/// The sample of a series: a piece of line, a marker or both, in a box of size [`SAMPLE`].
fn sample(style: &Style, kind: Kind) -> Markup {
    let colour = style.ink();
    let centre = |(x, y): &(f64, f64)| {
        format!("{:.2},{:.2}", SAMPLE.0 / 2.0 + x * RADIUS, SAMPLE.1 / 2.0 + y * RADIUS)
    };
    let corners = style.marker.outline().iter().map(centre).collect::<Vec<_>>().join(" ");
    html! {
        @if kind != Kind::Points { (rule(Direction::Horizontal, &colour, 2.0, style.dash)) }
        @if kind != Kind::Line {
            @if style.filled { polygon points=(corners) fill=(colour) {} }
            @else { polygon points=(corners) fill="none" stroke=(colour) stroke-width="1.5" {} }
        }
    }
}

/// A horizontal or vertical line through the centre of a sample.
fn rule(direction: Direction, colour: &str, width: f64, dash: Option<(f64, f64)>) -> Markup {
    let dash = dash.map(|(dash, gap)| format!("{dash} {gap}"));
    let (x, y) = (SAMPLE.0 / 2.0, SAMPLE.1 / 2.0);
    let [x1, y1, x2, y2] = match direction {
        Direction::Horizontal => [0.0, y, SAMPLE.0, y],
        Direction::Vertical => [x, -2.0, x, SAMPLE.1 + 2.0],
    };
    html! {
        line x1=(x1) x2=(x2) y1=(y1) y2=(y2)
            stroke=(colour) stroke-width=(width) stroke-dasharray=[dash] {}
    }
}

/// The legend as a list for the page.
pub fn list(plot: &Plot, look: Look) -> Markup {
    html! {
        ul.legend {
            @for item in items(plot, look) {
                li {
                    svg aria-hidden="true" width=(SAMPLE.0) height=(SAMPLE.1)
                        viewBox=(format!("0 0 {} {}", SAMPLE.0, SAMPLE.1)) {
                        (item.sample)
                    }
                    span { (item.name) }
                }
            }
        }
    }
}

/// An SVG file of the plot on white, with its legend below: for slides, documents and READMEs.
///
/// # Errors
/// As [`draw`](draw::draw).
pub fn standalone(plot: &Plot, look: Look) -> Result<String, NotDrawn> {
    let drawing = draw::draw(plot, look)?;
    let items = items(plot, look);
    let height = HEIGHT + LINE * items.len() as f64 + 10.0;
    let place = |i: usize| {
        format!("translate({},{}) scale({})", px(76.0), px(HEIGHT + LINE * i as f64), px(1.0))
    };
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(draw::view_box(height)) width=(WIDTH) height=(height)
            color="#000000" font-family="sans-serif" role="img" aria-label=(plot.title) {
            rect width="100%" height="100%" fill="#FFFFFF" {}
            title { (plot.title) }
            (PreEscaped(drawing.body))
            @for (i, item) in items.iter().enumerate() {
                g transform=(place(i)) {
                    (item.sample)
                    text x=(SAMPLE.0 + 8.0) y="12" font-size="14" fill="currentColor" {
                        (item.name)
                    }
                }
            }
        }
    };
    Ok(picture.into_string() + "\n")
}
