//! Saving and loading: nothing changes, and nothing wrong gets in.

use crate::common::*;
use faer::Mat;
use nystrom_kernels::{
    Gaussian, Kernel, Linear, Matern, Matern12, Matern32, Matern52, Points, SavedKernel, Sum,
};
use nystrom_krr::{
    DivideAndConquerKrr, DivideAndConquerModel, ExactKrr, KrrModel, NystromKrr, SavedModel,
};
use nystrom_linalg_core::{Error, Ridge, Scalar};
use serde_json::{Value, json};

fn model<T: Scalar>() -> (KrrModel<Gaussian, T>, Mat<T>)
where
    Gaussian: Kernel<T>,
{
    let (x, y) = sample::<T>(200, 3, 2, 4);
    let krr = NystromKrr {
        intercept: true,
        ..NystromKrr::new(gaussian(1.3), Ridge::PerSample(T::lit(1e-4)))
    };
    let points = Points::from_rows(x.as_ref());
    (krr.fit((points, y.as_ref()), points.slice(0..20)).unwrap(), x)
}

fn round_trip<T>()
where
    T: Scalar + serde::Serialize + serde::de::DeserializeOwned,
    Gaussian: Kernel<T>,
{
    let (model, x) = model::<T>();
    let text = serde_json::to_string(&model).unwrap();
    let loaded: KrrModel<Gaussian, T> = serde_json::from_str(&text).unwrap();
    assert_eq!(loaded, model);
    let at = Points::from_rows(x.as_ref());
    assert_eq!(loaded.predict(at).unwrap(), model.predict(at).unwrap());
}

#[test]
fn predictions_are_the_same_to_the_bit() {
    round_trip::<f64>();
    round_trip::<f32>();
}

/// As versions wrote it that did not say whether a constant was fitted.
#[test]
fn a_report_without_the_fact_of_a_constant_loads() {
    let (model, _) = model::<f64>();
    let mut file = serde_json::to_value(&model).unwrap();
    let fact = file["report"].as_object_mut().unwrap().remove("intercept");
    assert_eq!(fact, Some(true.into()));
    let loaded: KrrModel<Gaussian, f64> = serde_json::from_value(file).unwrap();
    assert!(!loaded.report().intercept && loaded.intercept() == model.intercept());
}

#[test]
fn no_training_data_is_inside() {
    let value = serde_json::to_value(model::<f64>().0).unwrap();
    let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
    let expected = [
        "centers",
        "centers_count",
        "coefficients",
        "dimension",
        "format",
        "intercept",
        "kernel",
        "report",
        "scalar",
        "targets",
    ];
    assert_eq!(keys, expected);
    assert_eq!(value["centers"]["dense"]["column_major"].as_array().unwrap().len(), 3 * 20);
}

/// The typed error of a saved model after `spoil`, and the same message from direct
/// deserialisation.
fn refused(spoil: impl Fn(&mut Value)) -> Error {
    let mut value = serde_json::to_value(model::<f64>().0).unwrap();
    spoil(&mut value);
    let saved: SavedModel<Gaussian, f64> = serde_json::from_value(value.clone()).unwrap();
    let error = KrrModel::try_from(saved).unwrap_err();
    let direct = serde_json::from_value::<KrrModel<Gaussian, f64>>(value).unwrap_err();
    assert!(direct.to_string().contains(&error.to_string()), "{direct}");
    error
}

#[test]
fn what_contradicts_itself_is_refused() {
    type Spoil = fn(&mut Value);
    let cases: [(Spoil, &str); 8] = [
        (|v| v["format"] = json!(7), "format version 7"),
        (|v| v["scalar"] = json!("f32"), "load it as f32, not as f64"),
        (|v| v["dimension"] = json!(4), "dimension of the centres"),
        (|v| v["centers_count"] = json!(21), "number of centres"),
        (|v| v["targets"] = json!(3), "columns of coefficients"),
        (|v| v["intercept"] = json!([0.0]), "number of intercepts"),
        (
            |v| v["coefficients"] = json!({"nrows": 10, "ncols": 4, "column_major": vec![0.5; 40]}),
            "rows of coefficients",
        ),
        (
            |v| v["coefficients"] = json!({"nrows": 20, "ncols": 1, "column_major": vec![0.5; 20]}),
            "columns of coefficients",
        ),
    ];
    for (spoil, message) in cases {
        let error = refused(spoil);
        assert!(matches!(error, Error::Incompatible { what: "model", .. }), "{error}");
        assert!(error.to_string().contains(message), "{error}");
    }
    let empty = |v: &mut Value| {
        v["centers_count"] = json!(0);
        v["centers"] = json!({"dense": {"nrows": 3, "ncols": 0, "column_major": []}});
        v["coefficients"] = json!({"nrows": 0, "ncols": 2, "column_major": []});
    };
    assert!(matches!(refused(empty), Error::Empty { .. }));
}

#[test]
fn a_double_precision_model_does_not_load_as_single() {
    let text = serde_json::to_string(&model::<f64>().0).unwrap();
    let error = serde_json::from_str::<KrrModel<Gaussian, f32>>(&text).unwrap_err();
    assert!(
        error.to_string().contains("saved with f64 numbers; load it as f64, not as f32"),
        "{error}"
    );
}

#[test]
fn damaged_files_are_refused() {
    let text = serde_json::to_string(&model::<f64>().0).unwrap();
    type Model = KrrModel<Gaussian, f64>;
    for cut in [1, text.len() / 3, text.len() - 1] {
        assert!(serde_json::from_str::<Model>(&text[..cut]).is_err());
    }
    // JSON writes NaN as null; other formats keep it, and the conversion refuses it (unit test
    // beside `SavedModel`).
    let mut value = serde_json::to_value(model::<f64>().0).unwrap();
    value["coefficients"]["column_major"][3] = Value::Null;
    assert!(serde_json::from_value::<Model>(value).is_err());
    let mut value = serde_json::to_value(model::<f64>().0).unwrap();
    value["coefficients"]["column_major"].as_array_mut().unwrap().pop();
    let error = serde_json::from_value::<Model>(value).unwrap_err();
    assert!(error.to_string().contains("damaged"), "{error}");
    let mut value = serde_json::to_value(model::<f64>().0).unwrap();
    value.as_object_mut().unwrap().remove("intercept");
    assert!(serde_json::from_value::<Model>(value).is_err());
}

#[test]
fn a_file_whose_kernel_is_none_is_refused() {
    let mut value = serde_json::to_value(model::<f64>().0).unwrap();
    value["kernel"]["gaussian"]["length_scale"] = json!(-1.3);
    let error = serde_json::from_value::<KrrModel<Gaussian, f64>>(value).unwrap_err();
    assert!(error.to_string().contains("length scale = -1.3 is not valid"), "{error}");
}

/// A file that holds the kernel `found` is no model with the kernel K: typed, and with both names.
fn another_kernel<K: Kernel<f64> + SavedKernel>(text: &str, found: &str) {
    let names = format!("the file holds the kernel `{found}`, not `{}`", K::name());
    let saved: SavedModel<K, f64> = serde_json::from_str(text).unwrap();
    let Err(Error::Incompatible { what: "kernel", problem }) = KrrModel::try_from(saved) else {
        panic!("{names}")
    };
    assert!(problem.contains(&names), "{problem}");
    let direct = serde_json::from_str::<KrrModel<K, f64>>(text).err().unwrap();
    assert!(direct.to_string().contains(&names), "{direct}");
}

/// The finding: a Matérn-3/2 model read as another kernel predicted other numbers, without an
/// error.
#[test]
fn a_model_is_not_loaded_with_another_kernel() {
    let (x, y) = sample::<f64>(30, 2, 1, 4);
    let points = Points::from_rows(x.as_ref());
    let model = ExactKrr::new(Matern32::new(3.02).unwrap(), Ridge::PerSample(1e-3))
        .fit((points, y.as_ref()))
        .unwrap();
    let text = serde_json::to_string(&model).unwrap();
    assert!(
        text.contains(r#""kernel":{"matern-3/2":{"profile":null,"length_scale":3.02}}"#),
        "{text}"
    );
    another_kernel::<Gaussian>(&text, "matern-3/2");
    another_kernel::<Matern12>(&text, "matern-3/2");
    another_kernel::<Matern52>(&text, "matern-3/2");
    another_kernel::<Matern>(&text, "matern-3/2");
    another_kernel::<Sum<Matern32, Linear>>(&text, "matern-3/2");
    assert_eq!(serde_json::from_str::<KrrModel<Matern32, f64>>(&text).unwrap(), model);

    let sum = Sum::new(Matern32::new(3.02).unwrap(), Linear::new());
    let model = ExactKrr::new(sum, Ridge::PerSample(1e-3)).fit((points, y.as_ref())).unwrap();
    let text = serde_json::to_string(&model).unwrap();
    let saved: SavedModel<Sum<Gaussian, Linear>, f64> = serde_json::from_str(&text).unwrap();
    let error = KrrModel::try_from(saved).unwrap_err().to_string();
    assert!(error.contains("`matern-3/2`, not `gaussian`"), "{error}");

    let krr = DivideAndConquerKrr {
        parts: 2,
        ..DivideAndConquerKrr::new(gaussian(1.0), Ridge::PerSample(1e-3))
    };
    let model = krr.fit((points, y.as_ref()), &mut rng(1)).unwrap();
    let text = serde_json::to_string(&model).unwrap();
    assert_eq!(serde_json::from_str::<DivideAndConquerModel<Gaussian, f64>>(&text).unwrap(), model);
    let error = serde_json::from_str::<DivideAndConquerModel<Matern52, f64>>(&text)
        .unwrap_err()
        .to_string();
    assert!(error.contains("`gaussian`, not `matern-5/2`"), "{error}");
}

/// A model file, to the letter but for the kernel.
fn file_with(kernel: &str) -> String {
    format!(
        r#"{{"format":2,"scalar":"f64","dimension":1,"centers_count":2,"targets":1,"kernel":{kernel},
        "centers":{{"dense":{{"nrows":1,"ncols":2,"column_major":[0.0,1.0]}}}},
        "coefficients":{{"nrows":2,"ncols":1,"column_major":[1.0,-0.5]}},"intercept":[0.25],
        "report":{{"n":2,"m":2,"d":1,"t":1,"ridge":0.002,"jitter":0.0,"solver":"ExactCholesky",
        "reason":"exact kernel ridge regression","condition":4.0,"kernel_entries":4}}}}"#
    )
}

#[test]
fn a_file_loads_as_the_kernel_that_it_names_only() {
    let fields = r#"{"profile":{"nu":1.3},"length_scale":3.02}"#;
    let named = file_with(&format!(r#"{{"matern":{fields}}}"#));
    let model: KrrModel<Matern, f64> = serde_json::from_str(&named).unwrap();
    let at = [0.3];
    let k = model.kernel().eval(Points::from_slice(&at), Points::from_slice(&[0.0, 1.0]));
    let f = model.predict(Points::from_slice(&at)).unwrap()[(0, 0)];
    assert!((f - (k[(0, 0)] - 0.5 * k[(0, 1)] + 0.25)).abs() < 1e-15);

    let saved: SavedModel<Matern, f64> = serde_json::from_str(&file_with(fields)).unwrap();
    let Err(Error::Incompatible { what: "kernel", problem }) = KrrModel::try_from(saved) else {
        panic!()
    };
    assert!(problem.contains("the kernel `profile`, not `matern`"), "{problem}");
}
