//! One file for each command.

mod basis;
mod certify;
mod classes;
mod column_uses;
mod completions;
mod embed;
