//! Data sets stay outside the repository: they are large, and have licences of their own.

use super::Violation;
use super::tree::Tree;

/// The four data sets whose licence (CC BY 4.0) lets them lie here, behind the feature `embedded`.
const EMBEDDED: [&str; 4] = [
    "crates/data/src/catalog/embedded/abalone.csv.gz",
    "crates/data/src/catalog/embedded/ccpp.csv.gz",
    "crates/data/src/catalog/embedded/htru2.csv.gz",
    "crates/data/src/catalog/embedded/query-analytics.csv.gz",
];
/// Who made them, under which licence, and what was changed.
const NOTICE: &str = "crates/data/src/catalog/embedded/NOTICE.md";

const DATA: [&str; 8] = [".arff", ".npy", ".npz", ".parquet", ".gz", ".mat", ".h5", ".zip"];

/// No file looks like a data set but the embedded ones, each of which the notice beside them names.
pub fn no_data_files(tree: &Tree) -> Vec<Violation> {
    let looks = |path: &&str| DATA.iter().any(|end| path.to_lowercase().ends_with(end));
    let (embedded, others): (Vec<_>, Vec<_>) =
        tree.paths().filter(looks).partition(|path| EMBEDDED.contains(path));
    let strange = others.into_iter().map(|path| {
        let text =
            "data sets are not kept in the repository: generate small ones in the test, read \
             large ones from --data";
        Violation::new(path, 0, text)
    });
    let notice = tree.text(NOTICE).unwrap_or_default();
    let named = |path: &&str| {
        path.rsplit('/').next().is_some_and(|name| notice.contains(&format!("`{name}`")))
    };
    let unattributed = embedded.into_iter().filter(|path| !named(path));
    let text =
        format!("{NOTICE} says nothing of it: name its makers, its licence and what was changed");
    strange.chain(unattributed.map(|path| Violation::new(path, 0, text.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_files_are_found_by_their_names() {
        let tree = Tree::of(&[
            ("a/x.ARFF", ""),
            ("b.csv.gz", ""),
            ("src/npy.rs", ""),
            ("docs/arff.md", ""),
        ]);
        let paths: Vec<String> =
            no_data_files(&tree).into_iter().map(|violation| violation.path).collect();
        assert_eq!(paths, ["a/x.ARFF", "b.csv.gz"]);
    }

    #[test]
    fn the_embedded_sets_are_allowed_where_they_are_attributed() {
        let notice = "| `ccpp.csv.gz` | made by someone |";
        let other = "crates/data/src/catalog/embedded/casp.csv.gz";
        let tree = Tree::of(&[(EMBEDDED[0], ""), (EMBEDDED[1], ""), (other, ""), (NOTICE, notice)]);
        let paths: Vec<String> =
            no_data_files(&tree).into_iter().map(|violation| violation.path).collect();
        assert_eq!(paths, [other, EMBEDDED[0]]);
    }
}
