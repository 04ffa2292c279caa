//! Data sets stay outside the repository: they are large, and have licences of their own.

use super::Violation;
use super::tree::Tree;

const DATA: [&str; 8] = [".arff", ".npy", ".npz", ".parquet", ".gz", ".mat", ".h5", ".zip"];

/// No file looks like a data set.
pub fn no_data_files(tree: &Tree) -> Vec<Violation> {
    let found = tree.paths().filter(|path| DATA.iter().any(|end| path.to_lowercase().ends_with(end)));
    found
        .map(|path| {
            let text = "data sets are not kept in the repository: generate small ones in the test, read large ones from --data";
            Violation::new(path, 0, text)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_files_are_found_by_their_names() {
        let tree = Tree::of(&[("a/x.ARFF", ""), ("b.csv.gz", ""), ("src/npy.rs", ""), ("docs/arff.md", "")]);
        let paths: Vec<String> = no_data_files(&tree).into_iter().map(|violation| violation.path).collect();
        assert_eq!(paths, ["a/x.ARFF", "b.csv.gz"]);
    }
}
