//! Options of a format that depend on the files.

use std::path::PathBuf;

use crate::error::{DataError, Result};
use crate::open::open;
use crate::{Format, Libsvm};

/// The format with the options that depend on the files.
pub(super) fn settled(format: &Format, paths: &[PathBuf]) -> Result<Format> {
    Ok(match format {
        Format::Csv(csv) => {
            let (mut file, name) = open(&paths[0])?;
            Format::Csv(csv.settled(&mut file, &name)?)
        }
        Format::Libsvm(libsvm) => Format::Libsvm(with_columns(libsvm, paths)?),
        other => other.clone(),
    })
}

/// The reader with the columns of all files. Returns an error if some have a `qid` and others none.
fn with_columns(libsvm: &Libsvm, paths: &[PathBuf]) -> Result<Libsvm> {
    let shape = |path: &PathBuf| {
        let (file, name) = open(path)?;
        Ok((libsvm.shape(file, &name)?, name))
    };
    let (mut all, first) = shape(&paths[0])?;
    for path in &paths[1..] {
        let (shape, table) = shape(path)?;
        if shape.queries != all.queries {
            let said = |queries: bool| if queries { "\"qid\"" } else { "no \"qid\"" }.to_owned();
            let (expected, found) = (said(all.queries), said(shape.queries));
            let position = libsvm.labels();
            return Err(DataError::StackMismatch { first, table, position, expected, found });
        }
        all.merge(&shape);
    }
    Ok(libsvm.settled(all))
}
