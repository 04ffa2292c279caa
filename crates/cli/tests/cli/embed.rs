//! `nystrom embed`: against the library, its bounds, and the words of the command line.

use crate::support::{Bench, table};
use nystrom::kernels::median_heuristic;
use nystrom::prelude::*;
use nystrom::sketch::{KernelKMeans, KernelPca, SpectralEmbedding, Uniform};
use nystrom_data::{Csv, Standardize, Standardizer};

/// The standardised rows of a file.
fn rows(bench: &Bench) -> Mat<f64> {
    let table = Csv::new().read_path(bench.path("t.csv")).unwrap();
    let x = table.drop_columns(["y"]).unwrap().matrix().unwrap();
    let standardizer = Standardizer::fit(x.as_ref(), &[], Standardize::default()).unwrap();
    standardizer.transform(x.as_ref()).unwrap()
}

/// The Gaussian kernel at the median distance and 40 uniform landmarks, with seed 3.
fn problem(points: Points<'_, f64>, rng: &mut Pcg64) -> (Gaussian, Landmarks) {
    let kernel = Gaussian::new(median_heuristic(points, 1000, rng).unwrap()).unwrap();
    let k = KernelMatrix::new(kernel, points).unwrap();
    (kernel, Uniform::default().select(&k, 40, rng).unwrap())
}

#[test]
fn embeddings_are_the_librarys() {
    let bench = Bench::new();
    bench.write("t.csv", table(300, 1));
    let (x, rng) = (rows(&bench), &mut Pcg64::seed_from_u64(3));
    let points = Points::from_rows(x.as_ref());
    let (kernel, landmarks) = problem(points, rng);
    let k = KernelMatrix::new(kernel, points).unwrap();
    let line = "embed t.csv --drop y --landmarks uniform:40 --seed 3 --json";

    let pca = KernelPca { components: 3 }.fit(&k, &landmarks).unwrap();
    let scores = pca.transform_rows(&k, &landmarks).unwrap();
    let told = bench.json(&format!("{line} --components 3 -o e.csv"));
    for j in 0..3 {
        let ours: Vec<f64> = scores.col(j).iter().copied().collect();
        assert_eq!(bench.column("e.csv", &format!("component_{}", j + 1)), ours);
        assert_eq!(told["variances"][j].as_f64().unwrap(), pca.variances()[j]);
    }
    assert_eq!(bench.column("e.csv", "row"), (0..300).map(f64::from).collect::<Vec<_>>());
    assert_eq!(told["subspace_bound"].as_f64(), pca.subspace_bound());

    let map = SpectralEmbedding::default().fit(&k, &landmarks).unwrap();
    let z = map.transform_rows(&k, &landmarks).unwrap();
    let told = bench.json(&format!("{line} --method spectral"));
    let values = told["values"].as_array().unwrap();
    assert_eq!((values.len(), values[1][299].as_f64().unwrap()), (2, z[(299, 1)]));

    let found = KernelKMeans { clusters: 4, ..KernelKMeans::default() };
    let found = found.fit(&k, &landmarks, rng).unwrap();
    let told = bench.json(&format!("{line} --method kmeans --clusters 4 -o c.csv"));
    let labels: Vec<f64> = found.labels().iter().map(|&label| label as f64).collect();
    assert_eq!(bench.column("c.csv", "cluster"), labels);
    assert_eq!(told["cost_bounds"][1].as_f64().unwrap(), found.cost_bounds()[1]);
    let sizes = told["sizes"].as_array().unwrap().iter().map(|size| size.as_u64().unwrap());
    assert_eq!(sizes.sum::<u64>(), 300);
}

#[test]
fn the_table_goes_to_standard_output_and_the_summary_beside_it() {
    let bench = Bench::new();
    bench.write("t.csv", table(60, 2));
    let run = bench.ok("embed t.csv");
    assert_eq!(run.out.lines().count(), 61);
    assert!(run.out.starts_with("row,line,component_1,component_2\n0,2,"), "{}", run.out);
    assert!(run.err.contains("exact share") && run.err.contains("60 of 60 rows"), "{}", run.err);
    let run = bench.ok("embed t.csv --method kmeans --clusters 2 -o c.npy");
    assert!(run.out.contains("clusters") && run.out.contains("between"), "{}", run.out);
    run.fits_80_columns();
}

#[test]
fn fewer_distinct_rows_give_fewer_clusters() {
    let bench = Bench::new();
    let lines: String = (0..30).map(|i| format!("{},{}\n", i % 3, i % 3 / 2)).collect();
    bench.write("t.csv", format!("a,b\n{lines}"));
    let run = bench.ok("embed t.csv --method kmeans --clusters 5 -o c.csv");
    assert!(run.said().contains("3, with rows: 10, 10, 10; no more rows"), "{}", run.out);
    // three distinct rows have two components
    bench.run("embed t.csv --components 3").ends(2, &["rank is 2", "at most 2"]);
}

#[test]
fn options_without_an_effect_are_refused() {
    let bench = Bench::new();
    bench.write("t.csv", table(40, 3));
    for (options, part) in [
        ("--clusters 3", "--method kmeans"),
        ("--method spectral --starts 2", "--method kmeans"),
        ("--method kmeans --components 2", "--clusters"),
        ("--nu 1.5", "--kernel matern"),
    ] {
        bench.run(&format!("embed t.csv {options}")).ends(2, &[part]);
    }
    for (options, part) in [
        ("--landmarks uniform:41", "at most 40"),
        ("--components 0", "components"),
        ("--method kmeans --clusters 41", "at most 40"),
        ("--method spectral --kernel linear", "without negative values"),
    ] {
        let run = bench.run(&format!("embed t.csv {options}"));
        assert!(run.code != Some(0) && run.err.contains(part), "{options}: {run:?}");
    }
    bench.run("embed t.csv --memory 1kB").ends(4, &["bytes"]);
}

/// A table of 3000 rows in `t.csv`, and in the five files of the folder `parts`.
fn in_parts() -> Bench {
    let bench = Bench::new();
    let all = table(3000, 1);
    bench.write("t.csv", &all);
    let (head, rest) = all.split_once('\n').unwrap();
    let lines: Vec<&str> = rest.lines().collect();
    std::fs::create_dir(bench.path("parts")).unwrap();
    for (i, part) in lines.chunks(700).enumerate() {
        bench.write(&format!("parts/{i}.csv"), format!("{head}\n{}\n", part.join("\n")));
    }
    bench
}

/// Landmarks come from a sample. If it has all rows, scores are those in memory, to rounding.
#[test]
fn coordinates_of_files_are_those_in_memory() {
    let bench = in_parts();
    for (method, keys, passes) in [
        ("pca", ["left_over", "total_variance"], 3),
        ("spectral", ["relative_trace_error", "bandwidth"], 4),
    ] {
        let options = "--drop y --landmarks uniform:40 --seed 3 --components 3 --json";
        let options = format!("--method {method} {options}");
        let told = bench.json(&format!("embed parts {options} -o s.csv"));
        let whole = bench.json(&format!("embed t.csv {options} -o e.csv"));
        for j in 1..=3 {
            let column = format!("component_{j}");
            let [s, e] = ["s.csv", "e.csv"].map(|file| bench.column(file, &column));
            let near = s.iter().zip(&e).all(|(s, e)| (s - e).abs() < 1e-6);
            assert!(s.len() == 3000 && near, "{method} {column}");
        }
        for key in keys {
            let [s, e] = [&told, &whole].map(|told| told[key].as_f64().unwrap());
            assert!((s / e - 1.0).abs() < 1e-9, "{method} {key}: {s} {e}");
        }
        let counts = ["rows", "passes"].map(|key| told[key].as_u64().unwrap());
        assert_eq!(counts, [3000, passes], "{method}");
    }
    for (line, words) in [
        ("embed t.csv --stream --landmarks squeak:9", "bless"),
        ("embed t.csv --stream -o e.npy", "CSV"),
    ] {
        bench.run(line).ends(2, &[words]);
    }
    bench.run("embed parts --method spectral --kernel linear").ends(2, &["without negative"]);
}

/// The clusters of a sample are a start. If it has all rows, it is the result, and one pass tells.
#[test]
fn clusters_of_files_are_those_in_memory() {
    let bench = in_parts();
    let options = "--method kmeans --clusters 4 --drop y --landmarks uniform:40 --seed 3 --json";
    let told = bench.json(&format!("embed parts {options} -o s.csv"));
    let whole = bench.json(&format!("embed t.csv {options} -o e.csv"));
    assert_eq!(bench.column("s.csv", "cluster"), bench.column("e.csv", "cluster"));
    assert_eq!(told["sizes"], whole["sizes"]);
    let [s, e] = [&told, &whole].map(|told| told["inertia"].as_f64().unwrap());
    assert!((s / e - 1.0).abs() < 1e-9, "{s} {e}");
    assert_eq!(told["passes"].as_u64().unwrap(), 2 + told["iterations"].as_u64().unwrap());
    // from a small sample, the cost over all rows falls to about the same, but for other landmarks
    let line = format!("embed parts {options} --reservoir 200 -o s.csv --leaves 2");
    let told = bench.json(&format!("{line} --bandwidth {}", whole["bandwidth"]));
    let bounds =
        |told: &serde_json::Value| [0, 1].map(|i| told["cost_bounds"][i].as_f64().unwrap());
    assert!(told["iterations"].as_u64().unwrap() > 1, "{told}");
    let ([least, most], [_, best]) = (bounds(&told), bounds(&whole));
    assert!(least < 1.05 * best && most > 0.95 * e, "{least} to {most} for {e} to {best}");
    let sizes = told["sizes"].as_array().unwrap().iter().map(|size| size.as_u64().unwrap());
    assert_eq!(sizes.sum::<u64>(), 3000);
    bench.run("embed parts --method kmeans --clusters 0").ends(2, &["clusters"]);
}
