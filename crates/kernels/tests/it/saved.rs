//! Kernels in files: each under its name, none taken for another, and what older files still say.

use nystrom_kernels::{
    Ard, Bernoulli, Gaussian, LaplacianL1, Linear, LoadedKernel, Matern, Matern12, Matern32,
    Matern52, Periodic, Polynomial, PowerExponential, PowerExponentialL1, Precomputed, Product,
    RationalQuadratic, SavedKernel, Scaled, SquaredExponential, Sum,
};
use nystrom_linalg_core::Error;
use serde_json::Value;
use std::fmt::Debug;

type GaussianArd = Ard<SquaredExponential>;

/// All kernels of the crate under their names, for the parameters that matter here.
fn files() -> Vec<Value> {
    let gaussian = Gaussian::new(3.0).unwrap();
    let matrix = Precomputed::new(faer::mat![[1.0, 0.5], [0.5, 1.0_f64]]).unwrap();
    vec![
        serde_json::to_value(gaussian).unwrap(),
        serde_json::to_value(Matern12::new(3.0).unwrap()).unwrap(),
        serde_json::to_value(Matern32::new(3.0).unwrap()).unwrap(),
        serde_json::to_value(Matern52::new(3.0).unwrap()).unwrap(),
        serde_json::to_value(Matern::new(1.5, 3.0).unwrap()).unwrap(),
        serde_json::to_value(PowerExponential::new(1.5, 3.0).unwrap()).unwrap(),
        serde_json::to_value(PowerExponentialL1::new(0.5, 3.0).unwrap()).unwrap(),
        serde_json::to_value(RationalQuadratic::new(1.5, 3.0).unwrap()).unwrap(),
        serde_json::to_value(LaplacianL1::new(3.0).unwrap()).unwrap(),
        serde_json::to_value(Linear::new()).unwrap(),
        serde_json::to_value(Polynomial::new(2, 1.0, 1.0).unwrap()).unwrap(),
        serde_json::to_value(Bernoulli::new(1).unwrap()).unwrap(),
        serde_json::to_value(Periodic::new(2.0, 3.0).unwrap()).unwrap(),
        serde_json::to_value(matrix).unwrap(),
        serde_json::to_value(gaussian.with_length_scales(&[3.0]).unwrap()).unwrap(),
        serde_json::to_value(Sum::new(gaussian, Linear::new())).unwrap(),
        serde_json::to_value(Product::new(gaussian, Linear::new())).unwrap(),
        serde_json::to_value(Scaled::new(gaussian, 2.0).unwrap()).unwrap(),
    ]
}

/// The name in a file: its only key.
fn name(file: &Value) -> String {
    let map = file.as_object().unwrap();
    assert_eq!(map.len(), 1, "{file}");
    map.keys().next().unwrap().clone()
}

/// Loads as its own name only, and with the same parameters; the others are refused with both
/// names.
fn only_its_own<K: SavedKernel>(files: &[Value]) {
    let own = K::name();
    assert_eq!(files.iter().filter(|file| name(file) == own).count(), 1, "{own}");
    for file in files {
        let LoadedKernel(loaded) = serde_json::from_value::<LoadedKernel<K>>(file.clone()).unwrap();
        match (loaded, name(file)) {
            (Ok(kernel), found) => {
                assert_eq!(found, own);
                assert_eq!(serde_json::to_value(kernel).unwrap(), *file);
            }
            (Err(Error::Incompatible { what: "kernel", problem }), found) => {
                assert_ne!(found, own);
                assert!(problem.contains(&format!("`{found}`, not `{own}`")), "{problem}");
                let direct = serde_json::from_value::<K>(file.clone()).err().unwrap().to_string();
                assert!(direct.contains(&problem), "{direct}");
            }
            (Err(error), _) => panic!("{error}"),
        }
    }
}

#[test]
fn no_kernel_is_loaded_as_another() {
    let files = files();
    only_its_own::<Gaussian>(&files);
    only_its_own::<Matern12>(&files);
    only_its_own::<Matern32>(&files);
    only_its_own::<Matern52>(&files);
    only_its_own::<Matern>(&files);
    only_its_own::<PowerExponential>(&files);
    only_its_own::<PowerExponentialL1>(&files);
    only_its_own::<RationalQuadratic>(&files);
    only_its_own::<LaplacianL1>(&files);
    only_its_own::<Linear>(&files);
    only_its_own::<Polynomial>(&files);
    only_its_own::<Bernoulli>(&files);
    only_its_own::<Periodic>(&files);
    only_its_own::<Precomputed<f64>>(&files);
    only_its_own::<GaussianArd>(&files);
    only_its_own::<Sum<Gaussian, Linear>>(&files);
    only_its_own::<Product<Gaussian, Linear>>(&files);
    only_its_own::<Scaled<Gaussian>>(&files);
    only_its_own::<Box<Gaussian>>(&files);
}

/// The typed error of a file that is no `K`.
fn refused<K: SavedKernel>(file: &str) -> String {
    match serde_json::from_str::<LoadedKernel<K>>(file).unwrap().0 {
        Err(Error::Incompatible { what: "kernel", problem }) => problem,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("{file} was accepted"),
    }
}

#[test]
fn parts_of_a_kernel_have_names_too() {
    let file = |part: &str| {
        format!(r#"{{"sum":{{"first":{part},"second":{{"linear":{{"bias":0.0}}}}}}}}"#)
    };
    let matern = r#"{"matern-3/2":{"profile":null,"length_scale":1.0}}"#;
    let problem = refused::<Sum<Gaussian, Linear>>(&file(matern));
    assert!(problem.contains("`matern-3/2`, not `gaussian`"), "{problem}");
    let problem = refused::<Sum<Sum<Gaussian, Linear>, Linear>>(&file(&file(matern)));
    assert!(problem.contains("`matern-3/2`, not `gaussian`"), "{problem}");
    let problem =
        refused::<Scaled<Gaussian>>(&format!(r#"{{"scaled":{{"kernel":{matern},"factor":2.0}}}}"#));
    assert!(problem.contains("`matern-3/2`, not `gaussian`"), "{problem}");
}

/// Files as they were written before kernels had names, to the letter.
#[test]
fn old_files_load_where_no_other_kernel_has_their_fields() {
    fn loads<K: SavedKernel + PartialEq + Debug>(file: &str, kernel: K) {
        assert_eq!(serde_json::from_str::<K>(file).unwrap(), kernel);
        let sorted: Value = serde_json::from_str(file).unwrap(); // keys in another order
        assert_eq!(serde_json::from_value::<K>(sorted).unwrap(), kernel);
    }
    loads(r#"{"profile":{"nu":1.3},"length_scale":3.02}"#, Matern::new(1.3, 3.02).unwrap());
    loads(
        r#"{"profile":{"alpha":2.0},"length_scale":0.5}"#,
        RationalQuadratic::new(2.0, 0.5).unwrap(),
    );
    let ard = Matern::new(1.3, 1.0).unwrap().with_length_scales(&[1.0, 2.0]).unwrap();
    loads(r#"{"profile":{"nu":1.3},"length_scales":[1.0,2.0]}"#, ard);
    loads(r#"{"length_scale":3.02}"#, LaplacianL1::new(3.02).unwrap());
    loads(r#"{"bias":0.5}"#, Linear::with_bias(0.5).unwrap());
    loads(r#"{"degree":3,"gamma":0.25,"offset":1.0}"#, Polynomial::new(3, 0.25, 1.0).unwrap());
    loads(r#"{"beta":2}"#, Bernoulli::new(2).unwrap());
    let periodic = r#"{"period":2.0,"gaussian":{"profile":null,"length_scale":1.5}}"#;
    assert_eq!(
        serde_json::from_str::<Periodic>(periodic).unwrap(),
        Periodic::new(2.0, 1.5).unwrap()
    );
    loads(
        r#"{"kernel":{"profile":{"nu":1.3},"length_scale":3.02},"factor":2.0}"#,
        Scaled::new(Matern::new(1.3, 3.02).unwrap(), 2.0).unwrap(),
    );
    loads(
        r#"{"matrix":{"nrows":1,"ncols":1,"column_major":[2.0]}}"#,
        Precomputed::new(faer::mat![[2.0_f64]]).unwrap(),
    );
}

#[test]
fn old_files_that_several_kernels_could_have_written_are_refused_with_the_remedy() {
    let old = r#"{"profile":null,"length_scale":3.02}"#;
    for (problem, name) in [
        (refused::<Gaussian>(old), "gaussian"),
        (refused::<Matern12>(old), "matern-1/2"),
        (refused::<Matern32>(old), "matern-3/2"),
        (refused::<Matern52>(old), "matern-5/2"),
        (refused::<GaussianArd>(r#"{"profile":null,"length_scales":[3.02]}"#), "gaussian-ard"),
    ] {
        assert!(
            problem.contains(&format!(r#"put {{"{name}": …}} around the kernel"#)),
            "{problem}"
        );
    }
    // what the message says works
    let named: Gaussian = serde_json::from_str(&format!(r#"{{"gaussian":{old}}}"#)).unwrap();
    assert_eq!(named, Gaussian::new(3.02).unwrap());
    let pair = r#"{"first":{"bias":0.0},"second":{"bias":1.0}}"#;
    assert!(refused::<Sum<Linear, Linear>>(pair).contains("several kernels"));
    assert!(refused::<Product<Linear, Linear>>(pair).contains("several kernels"));
    let named: Sum<Linear, Linear> = serde_json::from_str(&format!(r#"{{"sum":{pair}}}"#)).unwrap();
    assert_eq!(named, Sum::new(Linear::new(), Linear::with_bias(1.0).unwrap()));
    // a part that is not clear
    let part = format!(r#"{{"kernel":{old},"factor":2.0}}"#);
    assert!(refused::<Scaled<Gaussian>>(&part).contains(r#"put {"gaussian": …}"#));
}

/// An old file of one kernel is no other kernel, whatever the order of its fields.
#[test]
fn old_files_of_other_kernels_are_refused() {
    let old = [
        r#"{"profile":null,"length_scale":3.02}"#,
        r#"{"profile":{"alpha":2.0},"length_scale":0.5}"#,
        r#"{"bias":0.5}"#,
        r#"{"degree":3,"gamma":0.25,"offset":1.0}"#,
        r#"{"beta":2}"#,
        r#"{"period":2.0,"gaussian":{"profile":null,"length_scale":1.5}}"#,
        r#"{"gaussian":{"profile":null,"length_scale":1.5},"period":2.0}"#,
        r#"{"length_scale":3.02,"profile":null}"#,
        r#"{"matrix":{"nrows":1,"ncols":1,"column_major":[2.0]}}"#,
        r#"{"first":{"bias":0.0},"second":{"bias":1.0}}"#,
        "{}",
        "null",
        "3.5",
        r#"{"laplacian-l1":{"length_scale":3.02},"linear":{"bias":0.0}}"#,
    ];
    for file in old {
        assert!(serde_json::from_str::<LaplacianL1>(file).is_err(), "{file}");
        assert!(serde_json::from_str::<Gaussian>(file).is_err(), "{file}");
        assert!(serde_json::from_str::<Matern>(file).is_err(), "{file}");
        assert!(serde_json::from_str::<Scaled<Linear>>(file).is_err(), "{file}");
    }
    let problem = refused::<Linear>(r#"{"degree":3,"gamma":0.25,"offset":1.0}"#);
    assert!(problem.contains("`degree` is not a field of `linear`"), "{problem}");
}

/// A kernel of a user: its name is its own to choose, its fields are as it writes them.
#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Brownian {
    scale: f64,
}

#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Bridge {
    scale: f64,
}

impl SavedKernel for Brownian {
    fn name() -> String {
        "brownian".into()
    }
}

impl SavedKernel for Bridge {
    fn name() -> String {
        "bridge".into()
    }
}

#[test]
fn kernels_of_a_users_own_are_told_apart() {
    let text = serde_json::to_string(&LoadedKernel(Ok(Brownian { scale: 2.0 }))).unwrap();
    assert_eq!(text, r#"{"brownian":{"scale":2.0}}"#);
    assert_eq!(
        serde_json::from_str::<LoadedKernel<Brownian>>(&text).unwrap().0.unwrap(),
        Brownian { scale: 2.0 }
    );
    assert!(refused::<Bridge>(&text).contains("`brownian`, not `bridge`"));
    let sum = Sum::new(Brownian { scale: 2.0 }, Linear::new());
    let text = serde_json::to_string(&sum).unwrap();
    assert_eq!(serde_json::from_str::<Sum<Brownian, Linear>>(&text).unwrap(), sum);
    assert!(refused::<Sum<Bridge, Linear>>(&text).contains("`brownian`, not `bridge`"));
}
