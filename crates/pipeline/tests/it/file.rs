//! Model files: damaged ones are refused, and never panic.

use crate::fit::table;
use nystrom::prelude::*;
use nystrom_data::{Column, Table};
use nystrom_pipeline::{
    AnyKernel, ColumnOptions, Columns, Effort, Error, Fit, Made, Model, Shape, Target,
};
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

/// f(x) = 0.25 + k(x, 0) − k(x, 1)/2 with the Gaussian kernel of length scale 2.
#[test]
fn a_model_that_was_saved_predicts_by_its_formula() {
    let regression = r#"{"format":2,"scalar":"f64","dimension":1,"centers_count":2,"targets":1,
        "kernel":{"gaussian":{"profile":null,"length_scale":2.0}},
        "centers":{"dense":{"nrows":1,"ncols":2,"column_major":[0.0,1.0]}},
        "coefficients":{"nrows":2,"ncols":1,"column_major":[1.0,-0.5]},"intercept":[0.25],
        "report":{"n":3,"m":2,"d":1,"t":1,"ridge":0.003,"jitter":0.0,"solver":"WhitenOnce",
        "reason":"asked for","condition":4.0,"kernel_entries":10}}"#;
    let regression: KrrModel<AnyKernel, f64> = serde_json::from_str(regression).unwrap();
    let table = Table::new("t", vec![Column::numbers("a", vec![0.0, 2.0])]).unwrap();
    let plain = ColumnOptions { standardize: false, ..ColumnOptions::default() };
    let columns = Columns::fit(&table, &plain, &[], Shape::PLAIN).unwrap();
    let (layout, target) = (vec!["a".into(), "y".into()], "y".to_owned());
    let targets = vec![Target::plain(target, 0.0, 1.0)];
    let model = Model::new(columns, layout, targets, None, regression, Made::default()).unwrap();
    let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    let k = |r: f64| (-r * r / 8.0).exp();
    let expected = [1.0 - 0.5 * k(1.0) + 0.25, k(2.0) - 0.5 * k(1.0) + 0.25];
    let found = loaded.predict(&table).unwrap().values;
    for (i, expected) in expected.into_iter().enumerate() {
        assert!((found[(i, 0)] - expected).abs() < 1e-15, "{} {expected}", found[(i, 0)]);
    }
}

#[test]
fn kernels_that_are_not_known_are_refused() {
    for (kernel, message) in [
        (r#"{"gauss":{"profile":null,"length_scale":2.0}}"#, "no kernel `gauss`"),
        (r#"{"profile":null,"length_scale":2.0}"#, "no kernel"),
        (r#"{"gaussian":{"profile":{"nu":2.5},"length_scale":2.0}}"#, ""),
    ] {
        let error = serde_json::from_str::<AnyKernel>(kernel).unwrap_err().to_string();
        assert!(error.contains(message), "{kernel}: {error}");
    }
}

#[test]
fn files_of_older_layouts_are_refused_with_the_remedy() {
    let mut third = bytes().to_vec();
    third[8] = 3;
    let json = |format: u32| format!(r#"{{"program":"nystrom","format":{format}}}"#).into_bytes();
    for (file, layout) in [(json(1), 1), (json(2), 2), (third, 3)] {
        match Model::from_bytes(&file) {
            Err(Error::File { problem }) => assert!(
                problem.contains(&format!("layout {layout}")) && problem.contains("fit the model"),
                "{problem}"
            ),
            other => panic!("{other:?}"),
        }
    }
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
