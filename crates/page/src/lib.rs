//! Figures, tables and pages; and the page of a fit.
//!
//! [`Plot`](plot::Plot) and [`Table`](table::Table) hold data. [`draw`](draw::draw) turns a plot
//! into SVG; [`figure`](figure::figure) and [`figure::table`] turn plots and tables into HTML.
//! [`document`] builds a page as one file: it has light and dark colours, fits narrow and wide
//! screens, and needs no network and no script. With the feature `fit`, [`FitPage`] is the page of
//! a fit by [`nystrom_pipeline`].
//!
//! ```
//! use nystrom_page::plot::{Axis, Plot, Point};
//! use nystrom_page::style::UNKNOWN;
//! use nystrom_page::{document, figure};
//! let mut plot = Plot::new("p", "A line", Axis::linear("x"), Axis::linear("y"));
//! plot.line("all of it", "key", [Point::new(0.0, 0.0), Point::new(1.0, 2.0)]);
//! let none = maud::html! {};
//! let figure = figure::figure(&plot, |_| UNKNOWN, &none)?;
//! assert!(document("Lines", &none, &figure, "").contains("all of it"));
//! # Ok::<(), nystrom_page::draw::NotDrawn>(())
//! ```
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::disallowed_types, clippy::too_many_lines))]

mod document;
pub mod draw;
pub mod figure;
#[cfg(feature = "fit")]
mod fit;
pub mod legend;
pub mod number;
pub mod plot;
pub mod scale;
pub mod style;
pub mod table;

pub use document::{STYLE, document};
#[cfg(feature = "fit")]
pub use fit::FitPage;
