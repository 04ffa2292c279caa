//! Writes the files behind the feature `embedded`: `cargo run -p nystrom-data --example embed --
//! DATA_DIR OUT_DIR`.

use std::io::Write;
use std::path::PathBuf;

use flate2::{Compression, GzBuilder};
use nystrom_data::catalog::{self, Verify};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folders: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [data, out] = folders.as_slice() else {
        return Err("usage: embed DATA_DIR OUT_DIR".into());
    };
    for name in ["query-analytics", "htru2", "ccpp", "abalone"] {
        let table = catalog::load_table(data, name, Verify::Checksum)?;
        let file = std::fs::File::create(out.join(format!("{name}.csv.gz")))?;
        // Without a time in the header the same table gives the same bytes.
        let mut gzip = GzBuilder::new().mtime(0).write(file, Compression::best());
        gzip.write_all(table.to_csv().as_bytes())?;
        gzip.finish()?;
    }
    Ok(())
}
