//! Model files: damaged ones are refused, and never panic.

use crate::fit::table;
use nystrom::prelude::*;
use nystrom_pipeline::{Effort, Error, Fit, Model};
use proptest::prelude::*;
use std::sync::OnceLock;

fn bytes() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let fit = Fit { effort: Effort::Quick, work: Some(1e8), ..Fit::default() };
        let rng = &mut Pcg64::seed_from_u64(0);
        fit.table(&table(60, 1), ["y"], rng).unwrap().model.to_bytes().unwrap()
    })
}

proptest! {
    #[test]
    fn a_changed_byte_is_noticed(place in any::<prop::sample::Index>(), bit in 0..8_u32) {
        let mut bad = bytes().to_vec();
        let place = place.index(bad.len());
        bad[place] ^= 1 << bit;
        let refused = matches!(Model::from_bytes(&bad), Err(Error::File { .. }));
        prop_assert!(refused);
    }

    #[test]
    fn a_cut_file_is_noticed(cut in any::<prop::sample::Index>()) {
        let cut = &bytes()[..cut.index(bytes().len())];
        let refused = matches!(Model::from_bytes(cut), Err(Error::File { .. }));
        prop_assert!(refused);
    }

    /// Heads that no fit wrote, under a right checksum.
    #[test]
    fn a_forged_head_is_refused_or_a_model(place in any::<prop::sample::Index>(),
        byte in any::<u8>()) {
        use sha2::{Digest, Sha256};
        let mut forged = bytes()[..bytes().len() - 32].to_vec();
        let place = place.index(forged.len());
        forged[place] = byte;
        let checksum = Sha256::digest(&forged);
        forged.extend(checksum);
        if let Ok(model) = Model::from_bytes(&forged) {
            let _ = model.predict(&table(5, 2));
        }
    }
}
