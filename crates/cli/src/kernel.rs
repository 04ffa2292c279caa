//! The kernel that the command line names, whichever it is, and what the progress bar knows of it.

use crate::args::{Bandwidth, KernelArgs, KernelName};
use crate::failure::{Failure, Result};
use crate::progress::Meter;
use nystrom::faer::{ColMut, MatMut};
use nystrom::kernels::{LoadedKernel, SavedKernel, median_heuristic};
use nystrom::leverage::Stationary;
use nystrom::prelude::*;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Random pairs that `--bandwidth auto` takes the median distance of.
const PAIRS: usize = 1000;

/// One of the library's kernels, in files under the name that the library gives it.
#[derive(Clone)]
pub enum Formula {
    Gaussian(Gaussian),
    Matern(Matern),
    LaplacianL1(LaplacianL1),
    RationalQuadratic(RationalQuadratic),
    Linear(Linear),
    Polynomial(Polynomial),
}

/// A kernel that tells a progress bar how many values it has given.
#[derive(Clone)]
pub struct AnyKernel {
    formula: Formula,
    meter: Meter,
}

impl AnyKernel {
    /// The kernel asked for on these points, whose median distance is its length scale if none is
    /// given.
    pub fn new(
        args: &KernelArgs,
        points: Points<'_, f64>,
        meter: Meter,
        rng: &mut dyn Rng,
    ) -> Result<Self> {
        args.check()?;
        let scale = match (args.bandwidth, args.kernel) {
            (_, KernelName::Linear | KernelName::Polynomial) => 1.0, // has none
            (Bandwidth::Given(scale), _) => scale,
            (Bandwidth::Auto, _) => median_heuristic(points, PAIRS, rng)?,
        };
        AnyKernel::with_scale(args, scale, points.dim(), meter)
    }

    /// The kernel asked for at this length scale.
    pub fn with_scale(args: &KernelArgs, scale: f64, d: usize, meter: Meter) -> Result<Self> {
        let formula = match args.kernel {
            KernelName::Gaussian => Formula::Gaussian(Gaussian::new(scale)?),
            KernelName::Matern => Formula::Matern(Matern::new(args.nu.unwrap_or(1.5), scale)?),
            KernelName::Laplacian => Formula::Matern(Matern::new(0.5, scale)?),
            KernelName::LaplacianL1 => Formula::LaplacianL1(LaplacianL1::new(scale)?),
            KernelName::RationalQuadratic => Formula::RationalQuadratic(RationalQuadratic::new(
                args.alpha.unwrap_or(1.0),
                scale,
            )?),
            KernelName::Linear => Formula::Linear(Linear::new()),
            KernelName::Polynomial => {
                Formula::Polynomial(Polynomial::new(args.degree.unwrap_or(3), 1.0 / d as f64, 1.0)?)
            }
        };
        Ok(AnyKernel { formula, meter })
    }

    /// Values given since the progress bar's last stage began.
    pub fn values_so_far(&self) -> u64 {
        self.meter.count()
    }

    /// The length scale, if the kernel has one.
    pub fn bandwidth(&self) -> Option<f64> {
        match &self.formula {
            Formula::Gaussian(kernel) => Some(kernel.length_scale()),
            Formula::Matern(kernel) => Some(kernel.length_scale()),
            Formula::LaplacianL1(kernel) => Some(kernel.length_scale()),
            Formula::RationalQuadratic(kernel) => Some(kernel.length_scale()),
            Formula::Linear(_) | Formula::Polynomial(_) => None,
        }
    }

    /// The kernel in words.
    pub fn describe(&self) -> String {
        let name = match &self.formula {
            Formula::Gaussian(_) => "Gaussian".to_owned(),
            Formula::Matern(kernel) => format!("Matérn, nu = {}", kernel.profile().nu()),
            Formula::LaplacianL1(_) => "Laplacian of the L1 distance".into(),
            Formula::RationalQuadratic(kernel) => {
                format!("rational quadratic, alpha = {}", kernel.profile().alpha())
            }
            Formula::Linear(_) => "linear".into(),
            Formula::Polynomial(kernel) => format!("polynomial of degree {}", kernel.degree()),
        };
        match self.bandwidth() {
            Some(scale) => format!("{name}, bandwidth {}", crate::text::number(scale)),
            None => name,
        }
    }

    /// What spectral analysis needs, if the kernel is stationary with a known spectral density.
    pub fn stationary(&self) -> Result<&dyn Stationary> {
        match &self.formula {
            Formula::Gaussian(kernel) => Ok(kernel),
            Formula::Matern(kernel) => Ok(kernel),
            Formula::RationalQuadratic(kernel) => Ok(kernel),
            _ => Err(Failure::Usage(
                "spectral analysis (sa) needs a stationary kernel; take gaussian, matern, \
                 laplacian or \
                 rational-quadratic, or another method"
                    .into(),
            )
            .into()),
        }
    }

    fn inner(&self) -> &dyn Kernel<f64> {
        match &self.formula {
            Formula::Gaussian(kernel) => kernel,
            Formula::Matern(kernel) => kernel,
            Formula::LaplacianL1(kernel) => kernel,
            Formula::RationalQuadratic(kernel) => kernel,
            Formula::Linear(kernel) => kernel,
            Formula::Polynomial(kernel) => kernel,
        }
    }
}

impl Formula {
    /// The kernel that a file names.
    fn named(name: &str, file: &Value) -> serde_json::Result<nystrom::Result<Formula>> {
        type Read = serde_json::Result<nystrom::Result<Formula>>;
        fn of<K: SavedKernel>(name: &str, file: &Value, formula: fn(K) -> Formula) -> Option<Read> {
            let read =
                || Ok(serde_json::from_value::<LoadedKernel<K>>(file.clone())?.0.map(formula));
            (name == K::name()).then(read)
        }
        let unknown = || {
            let problem =
                format!("this program has no kernel `{name}`; use the version that wrote the file");
            Ok(Err(Error::Incompatible { what: "kernel", problem }))
        };
        of(name, file, Formula::Gaussian)
            .or_else(|| of(name, file, Formula::Matern))
            .or_else(|| of(name, file, Formula::LaplacianL1))
            .or_else(|| of(name, file, Formula::RationalQuadratic))
            .or_else(|| of(name, file, Formula::Linear))
            .or_else(|| of(name, file, Formula::Polynomial))
            .unwrap_or_else(unknown)
    }
}

impl SavedKernel for AnyKernel {
    /// Not written: the kernel inside has its own.
    fn name() -> String {
        "any kernel of the program".into()
    }

    fn save<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match &self.formula {
            Formula::Gaussian(kernel) => kernel.save(serializer),
            Formula::Matern(kernel) => kernel.save(serializer),
            Formula::LaplacianL1(kernel) => kernel.save(serializer),
            Formula::RationalQuadratic(kernel) => kernel.save(serializer),
            Formula::Linear(kernel) => kernel.save(serializer),
            Formula::Polynomial(kernel) => kernel.save(serializer),
        }
    }

    fn load<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<LoadedKernel<Self>, D::Error> {
        let file = Value::deserialize(deserializer)?;
        let name =
            file.as_object().and_then(|kernel| kernel.keys().next()).map_or("", String::as_str);
        let formula = Formula::named(name, &file).map_err(D::Error::custom)?;
        Ok(LoadedKernel(formula.map(|formula| AnyKernel { formula, meter: Meter::default() })))
    }
}

impl Serialize for AnyKernel {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.save(serializer)
    }
}

impl<'de> Deserialize<'de> for AnyKernel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Self::load(deserializer)?.0.map_err(D::Error::custom)
    }
}

impl Kernel<f64> for AnyKernel {
    fn eval_into(&self, out: MatMut<'_, f64>, x: Points<'_, f64>, y: Points<'_, f64>) {
        self.inner().eval_into(out, x, y);
        self.meter.inc(x.len() * y.len());
    }
    fn diag_into(&self, out: ColMut<'_, f64>, x: Points<'_, f64>) {
        self.inner().diag_into(out, x);
    }
    fn check_dim(&self, d: usize) -> nystrom::Result<()> {
        self.inner().check_dim(d)
    }
    fn check_points(&self, x: Points<'_, f64>) -> nystrom::Result<()> {
        self.inner().check_points(x)
    }
    fn gram_into(&self, out: MatMut<'_, f64>, x: Points<'_, f64>) {
        self.inner().gram_into(out, x);
        self.meter.inc(x.len() * x.len());
    }
}

impl KernelArgs {
    /// An option that the kernel does not have would do nothing: it is an error.
    fn check(&self) -> Result<()> {
        let has_scale = !matches!(self.kernel, KernelName::Linear | KernelName::Polynomial);
        let wrong = [
            ("--nu", self.nu.is_some() && self.kernel != KernelName::Matern, "matern"),
            (
                "--alpha",
                self.alpha.is_some() && self.kernel != KernelName::RationalQuadratic,
                "rational-quadratic",
            ),
            (
                "--degree",
                self.degree.is_some() && self.kernel != KernelName::Polynomial,
                "polynomial",
            ),
            ("--bandwidth", self.bandwidth != Bandwidth::Auto && !has_scale, "gaussian, say"),
        ];
        match wrong.into_iter().find(|(_, wrong, _)| *wrong) {
            Some((option, _, kernel)) => {
                let text = format!(
                    "{option} means nothing to this kernel; leave it out, or say --kernel {kernel}"
                );
                Err(Failure::Usage(text).into())
            }
            None => Ok(()),
        }
    }
}
