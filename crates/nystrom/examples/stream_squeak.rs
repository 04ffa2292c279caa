//! Stream points through SQUEAK, stop, save the state, go on from it, and regress through the
//! dictionary (feature `serde`).
//!
//! `cargo run --release -p nystrom --features serde --example stream_squeak -- [BLOCKS]`

use std::error::Error;

use nystrom::prelude::*;

fn main() -> std::result::Result<(), Box<dyn Error>> {
    run(std::env::args().nth(1).map_or(Ok(200), |text| text.parse())?).map(|_| ())
}

/// So many blocks of 1000 points each; the estimate of d_eff.
pub fn run(blocks: usize) -> std::result::Result<f64, Box<dyn Error>> {
    let rng = &mut Pcg64::seed_from_u64(0);
    let kernel = Gaussian::new(0.5)?;
    let gamma = 10.0; // absolute: what is added to K's diagonal
    let params = SqueakParams { max_dictionary: 1500, ..SqueakParams::new(10) };
    let mut squeak = Squeak::new(kernel, 2, gamma, params)?;
    for b in 0..blocks {
        squeak.push(Points::from_rows(block(b).as_ref()), rng)?;
        if b + 1 == blocks / 2 {
            let saved = serde_json::to_string(&squeak)?;
            squeak = serde_json::from_str(&saved)?; // in another process, another day
            println!(
                "{:>7} points seen, {} kept; saved as {} kB",
                squeak.n_seen(),
                squeak.dictionary().len(),
                saved.len() / 1000
            );
        }
    }
    squeak.settle(rng)?;
    let dictionary = squeak.dictionary();
    println!(
        "{:>7} points seen, {} kept, standing for {:.0}",
        squeak.n_seen(),
        dictionary.len(),
        dictionary.total_weight()
    );

    // The weighted scores of the points kept add up to an estimate of d_eff(γ), which the
    // dictionary's size follows. A score is (1 − ε) times what is estimated, so that it stays below
    // the truth: here the factor is taken out again.
    let (weights, scores) = (dictionary.weights(), squeak.member_scores()?);
    let sum: f64 = weights.iter().zip(&scores).map(|(weight, score)| weight * score).sum();
    let d_eff = sum / (1.0 - params.epsilon);
    println!("d_eff at the ridge {gamma} is about {d_eff:.0}");

    // Regression through the dictionary, here over the last block.
    let x = block(blocks - 1);
    let y = Mat::from_fn(x.nrows(), 1, |i, _| (3.0 * x[(i, 0)]).sin());
    let krr = DictionaryKrr { kernel, gamma: Ridge::Absolute(gamma), ridge: Ridge::Absolute(1.0) };
    let model = krr.fit((Points::from_rows(x.as_ref()), &y), (dictionary.points(), &weights))?;
    let at = [0.5, 0.5];
    let f = model.predict(Points::from_cols(Mat::from_fn(2, 1, |k, _| at[k]).as_ref()))?;
    println!("f(½, ½) = {:.3}, the target there {:.3}", f[(0, 0)], 1.5_f64.sin());
    Ok(d_eff)
}

/// The points number 1000·b and up, as they would come from a file or a socket.
pub fn block(b: usize) -> Mat<f64> {
    let rng = &mut Pcg64::seed_from_u64(100 + b as u64);
    Mat::from_fn(1000, 2, |_, _| 4.0 * rng.random::<f64>())
}
