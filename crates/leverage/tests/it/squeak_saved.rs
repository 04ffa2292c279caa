//! Squeak and its dictionary in files: what goes on, and what is refused.

use crate::squeak_stream::{cube, fed, gaussian};
use nystrom_kernels::{Gaussian, Points};
use nystrom_leverage::*;
use nystrom_linalg_core::Error;
use nystrom_linalg_core::testing::rng;

#[test]
fn a_stream_saved_midway_resumes_to_the_same_bits() {
    let x = cube(900, 2, 14);
    let points = Points::from_rows(x.as_ref());
    let (mut through, mut generator) =
        (Squeak::new(gaussian(), 2, 0.5, SqueakParams::new(10)).unwrap(), rng(3));
    through.push(points.slice(0..431), &mut generator).unwrap(); // inside a chunk
    assert!(through.pending() > 0);
    let text = serde_json::to_string(&through).unwrap();
    let mut resumed: Squeak<Gaussian, f64> = serde_json::from_str(&text).unwrap();
    assert_eq!(resumed, through);
    let mut second = generator.clone();
    through.push(points.slice(431..900), &mut generator).unwrap();
    resumed.push(points.slice(431..900), &mut second).unwrap();
    assert_eq!(resumed, through);
    assert!(through.n_seen() == 900 && through.dictionary().len() < 500);
}

/// Without kernel and parameters the state is that of any stream of its dimension and copies.
#[test]
fn a_state_goes_on_where_its_kernel_is_known() {
    let x = cube(900, 2, 14);
    let points = Points::from_rows(x.as_ref());
    let empty = Squeak::new(gaussian(), 2, 0.5, SqueakParams::new(10)).unwrap();
    let (mut through, mut generator) = (empty.clone(), rng(3));
    through.push(points.slice(0..431), &mut generator).unwrap();
    let state = through.state();
    let mut resumed = empty;
    resumed.resume(state.clone()).unwrap();
    assert_eq!(resumed, through);
    let mut second = generator.clone();
    through.push(points.slice(431..900), &mut generator).unwrap();
    resumed.push(points.slice(431..900), &mut second).unwrap();
    assert_eq!(resumed, through);

    let other = |dim, copies| Squeak::new(gaussian(), dim, 0.5, SqueakParams::new(copies)).unwrap();
    for mut other in [other(3, 10), other(2, 11)] {
        let before = other.clone();
        let refused = other.resume(state.clone());
        assert!(matches!(refused, Err(Error::Incompatible { what: "SQUEAK stream", .. })));
        assert_eq!(other, before);
    }
}

#[test]
fn a_stream_does_not_go_on_with_another_kernel() {
    let squeak = fed(&cube(50, 2, 15), SqueakParams::new(4), &[50]);
    let text = serde_json::to_string(&squeak).unwrap();
    let saved: SavedSqueak<nystrom_kernels::Matern32, f64> = serde_json::from_str(&text).unwrap();
    let Err(Error::Incompatible { what: "kernel", problem }) = Squeak::try_from(saved) else {
        panic!()
    };
    assert!(problem.contains("`gaussian`, not `matern-3/2`"), "{problem}");
}

/// What DictionaryFull leaves can be saved, and goes on elsewhere under a larger cap.
#[test]
fn a_full_stream_saved_and_resumed_goes_on() {
    let x = cube(600, 2, 16);
    let (points, mut generator) = (Points::from_rows(x.as_ref()), rng(4));
    let params = SqueakParams { max_dictionary: 100, ..SqueakParams::new(20) };
    let mut through = Squeak::new(gaussian(), 2, 1e-6, params).unwrap();
    assert!(matches!(through.push(points, &mut generator), Err(Error::DictionaryFull { .. })));
    let seen = through.n_seen() as usize;
    let mut resumed: Squeak<Gaussian, f64> =
        serde_json::from_str(&serde_json::to_string(&through).unwrap()).unwrap();
    for squeak in [&mut through, &mut resumed] {
        squeak.set_max_dictionary(600).unwrap();
        squeak.push(points.slice(seen..600), &mut generator.clone()).unwrap();
    }
    assert!(resumed == through && resumed.n_seen() == 600);
}

#[test]
fn damaged_files_are_refused() {
    let squeak = fed(&cube(100, 2, 15), SqueakParams::new(4), &[100]);
    let text = serde_json::to_string(&squeak).unwrap();
    let load = |text: &str| {
        let saved: Result<SavedSqueak<Gaussian, f64>, _> = serde_json::from_str(text);
        let saved = saved
            .map_err(|error| Error::Incompatible { what: "file", problem: error.to_string() })?;
        Squeak::try_from(saved)
    };
    assert_eq!(load(&text).unwrap(), squeak);
    let first_position = format!("\"positions\":[{},", squeak.dictionary().positions()[0]);
    for (from, to) in [
        ("\"format\":2", "\"format\":1"),
        ("\"scalar\":\"f64\"", "\"scalar\":\"f32\""),
        ("\"dim\":2", "\"dim\":3"),
        ("\"seen\":100", "\"seen\":1"),
        ("\"copies_per_point\":4", "\"copies_per_point\":5"),
        ("\"pending\":", "\"pending\":9"),
        // positions that the stream never gave, or gives to points that are yet to come
        ("\"first\":0", "\"first\":50"),
        ("\"first\":0", "\"first\":18446744073709551615"),
        ("\"next\":100", "\"next\":99"),
        (&*first_position, "\"positions\":[100,"),
        ("\"seen\":100", "\"seen\":18446744073709551616"),
    ] {
        let damaged = text.replacen(from, to, 1);
        assert_ne!(damaged, text, "{from} not in the file");
        assert!(matches!(load(&damaged), Err(Error::Incompatible { .. })), "{from} -> {to}");
    }
    let ridge = text.replacen("\"gamma\":1.0", "\"gamma\":-1.0", 1);
    assert!(matches!(load(&ridge), Err(Error::InvalidParameter { .. })));
}

/// A dictionary by itself: 0.7 points of 2 coordinates, weights that are infinite, … are refused
/// with what is wrong.
#[test]
fn damaged_dictionaries_are_refused() {
    let fine = r#"{"dim":2,"copies_per_point":4,"seen":9,"coordinates":[1.0,2.0,3.0,4.0],"positions":[3,7],"p":[0.5,1.0],"q":[1,4]}"#;
    let load = |text: &str| {
        serde_json::from_str::<StreamDictionary<f64>>(text).map_err(|error| error.to_string())
    };
    assert_eq!(load(fine).unwrap().weights(), [0.5, 1.0]);
    for (from, to, says) in [
        ("\"dim\":2", "\"dim\":0", "points of 0 coordinates"),
        ("\"dim\":2", "\"dim\":9223372036854775808", "4 coordinates, 2 positions"),
        ("\"copies_per_point\":4", "\"copies_per_point\":0", "0 copies"),
        ("\"copies_per_point\":4", "\"copies_per_point\":3", "point 1 has 4 copies"),
        ("1.0,2.0,3.0,4.0", "1.0", "1 coordinates"),
        ("\"seen\":9", "\"seen\":1", "2 points are kept of 1 seen"),
        ("[3,7]", "[3]", "1 positions"),
        ("[3,7]", "[3,3]", "position 3 occurs twice"),
        ("[0.5,1.0]", "[0.5]", "1 probabilities"),
        ("[0.5,1.0]", "[0.0,1.0]", "point 0 has the probability 0"),
        ("[0.5,1.0]", "[0.5,1.5]", "point 1 has the probability 1.5"),
        (
            "[0.5,1.0]",
            "[0.5,1e-320]",
            "point 1 has the probability 1e-320, which must be in (0, 1] and have a finite \
             reciprocal",
        ),
        ("[1,4]", "[0,4]", "point 0 has 0 copies"),
    ] {
        let damaged = fine.replacen(from, to, 1);
        assert_ne!(damaged, fine, "{from} not in the file");
        let error = load(&damaged).unwrap_err();
        assert!(
            error.contains("saved dictionary of a stream") && error.contains(says),
            "{from} -> {to}: {error}"
        );
    }
    let last = fine.replacen("[3,7]", "[3,18446744073709551615]", 1);
    // no row of any matrix
    assert!(matches!(load(&last).unwrap().by_rows(), Err(Error::IndexOutOfRange { .. })));
}
