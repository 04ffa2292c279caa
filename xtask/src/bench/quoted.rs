//! Times of programs that cannot be run from here.

use super::comparison::Quoted;

const fn quoted(what: &'static str, name: &'static str, seconds: f64) -> Quoted {
    Quoted { what, name, seconds }
}

/// What cannot be run from here, in the order of the rows.
pub const QUOTED: &[Quoted] = &[
    quoted("BLESS, q = 2, all scores, n = 200,000", "the authors' BLESS", 18.7),
    quoted("RPCholesky, rank 1000, n = 50,000", "the authors' RPCholesky", 2.3),
    quoted("RPCholesky, rank 500, n = 200,000", "the authors' RPCholesky", 7.2),
    quoted("Falkon, an iteration, n = 200,000, m = 1000", "Falkon on the CPU", 2.3),
];

#[cfg(test)]
mod tests {
    use super::super::rows::ROWS;
    use super::*;

    #[test]
    fn what_is_quoted_is_a_row_of_ours() {
        assert!(QUOTED.iter().all(|quoted| ROWS.iter().any(|row| row.what == quoted.what)));
    }
}
