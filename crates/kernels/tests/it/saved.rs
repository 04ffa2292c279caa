//! Kernels in files: each under its name, none taken for another.

use nystrom_kernels::{
    Ard, Bernoulli, Gaussian, LaplacianL1, Linear, LoadedKernel, Matern, Matern12, Matern32,
    Matern52, MinMax, Periodic, Polynomial, PowerExponential, PowerExponentialL1, Precomputed,
    Product, RationalQuadratic, SavedKernel, Scaled, SquaredExponential, Sum, Tanimoto,
};
use nystrom_linalg_core::Error;
use serde_json::Value;

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
        serde_json::to_value(Tanimoto).unwrap(),
        serde_json::to_value(MinMax).unwrap(),
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
    only_its_own::<Tanimoto>(&files);
    only_its_own::<MinMax>(&files);
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

/// Fields without the name of their kernel are no kernel.
#[test]
fn files_without_names_are_refused() {
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
    assert!(problem.contains("`degree`, not `linear`"), "{problem}");
    let problem = refused::<Linear>(r#"{"bias":0.5}"#);
    assert!(problem.contains("`bias`, not `linear`"), "{problem}");
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
