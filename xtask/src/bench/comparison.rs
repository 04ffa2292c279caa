//! Which measurement of ours stands against which rival's, and against what the machine allows: the
//! types. The rows are in `rows.rs`.

use super::criterion::Measurements;
use super::peers::Line;

type Ours = Box<dyn Fn(&Measurements) -> Option<f64>>;
type Limit = Box<dyn Fn(&Rates<'_>) -> Option<f64>>;

/// One line of the comparison.
pub struct Row {
    /// What is done, with its sizes.
    pub what: String,
    /// Our time for it.
    pub ours: Ours,
    /// The least time the machine allows, from rates measured in the same run; none where nobody
    /// has said what it is.
    pub limit: Limit,
    /// At most so many times the limit is the aim.
    pub within: Option<f64>,
    /// What a user would pick instead, each with the ratio, theirs over ours, that is aimed at.
    pub rivals: Vec<(Rival, f64)>,
}

impl Row {
    /// What one bench times. No limit is known, and nobody stands beside it.
    pub fn new(what: &str, bench: &str) -> Self {
        let bench = bench.to_owned();
        Row::of(what, move |ours| ours.seconds(&bench))
    }

    /// The same for a time put together from several benches.
    pub fn of(what: &str, ours: impl Fn(&Measurements) -> Option<f64> + 'static) -> Self {
        let (ours, limit) = (Box::new(ours), Box::new(|_: &Rates<'_>| None));
        Row { what: what.into(), ours, limit, within: None, rivals: vec![] }
    }

    /// The least time the machine allows.
    pub fn limit(self, limit: impl Fn(&Rates<'_>) -> Option<f64> + 'static) -> Self {
        Row { limit: Box::new(limit), ..self }
    }

    /// At most so many times this limit is the aim.
    pub fn within(self, times: f64, limit: impl Fn(&Rates<'_>) -> Option<f64> + 'static) -> Self {
        Row { within: Some(times), ..self.limit(limit) }
    }

    /// Something that it is held against, and the ratio that is aimed at.
    pub fn against(mut self, aim: f64, rival: Rival) -> Self {
        self.rivals.push((rival, aim));
        self
    }

    /// A peer: its name, the arguments of its run, the tool in its lines, the key of its time.
    pub fn peer(
        self,
        aim: f64,
        name: &'static str,
        run: &str,
        tool: &'static str,
        key: &'static str,
    ) -> Self {
        self.against(aim, Rival::Peer(Peer::new(name, run, tool, key)))
    }
}

/// Something our time is held against.
pub enum Rival {
    /// A peer, run by the harness in the same run.
    Peer(Peer),
    /// Another way of ours: a name for people, and its bench.
    Ours(&'static str, String),
}

/// Flops a second of a product in f64 on the machine of the prototype, both cores.
const PROTOTYPE_PRODUCT: f64 = 189e9;

/// A peer's measurement.
pub struct Peer {
    /// Its name for people.
    pub name: &'static str,
    /// The arguments of the harness's run.
    pub arguments: String,
    /// The name of the tool in the run's lines.
    pub tool: &'static str,
    /// Further keys of the line and their values, where a run prints several lines of a tool.
    pub only: &'static [(&'static str, &'static str)],
    /// The key of its time.
    pub key: &'static str,
}

/// Rates of the machine, from the same run.
pub struct Rates<'a>(pub &'a Measurements);

impl Rates<'_> {
    /// Flops a second of a square product of 2000 in f64.
    pub fn product(&self) -> Option<f64> {
        self.0.seconds("gemm_f64/2000").map(|s| 2.0 * 2000_f64.powi(3) / s)
    }

    /// Flops a second of one triangle of a Gram matrix, 20,000 × 2000, of the scalar.
    pub fn triangle(&self, scalar: &str) -> Option<f64> {
        self.0.seconds(&format!("syrk_{scalar}/2000")).map(|s| 20_000.0 * 2000_f64.powi(2) / s)
    }

    /// Entries a second of a block of 20,000 × 2000 in memory: scalar, kernel and dimension as in
    /// `f64/gaussian/d=10`.
    pub fn tile(&self, of: &str) -> Option<f64> {
        let (scalar, kernel) = of.split_once('/')?;
        self.0.seconds(&format!("kernel_block_{scalar}/{kernel}")).map(|s| 20_000.0 * 2000.0 / s)
    }

    /// The block of 20,000 × 2000 at `entries` a second, a rate reached where the product ran at
    /// [`PROTOTYPE_PRODUCT`], scaled to this machine.
    pub fn prototype(&self, entries: f64) -> Option<f64> {
        Some(20_000.0 * 2000.0 / entries * PROTOTYPE_PRODUCT / self.product()?)
    }

    /// One triangle of the Gram matrix, the tiles, and m³ flops for each of the two factorisations
    /// and two whitenings.
    pub fn nystrom(&self, scalar: &str, n: f64, m: f64) -> Option<f64> {
        let small = (2.0 / 3.0 + 2.0) * m.powi(3) / self.product()?;
        Some(
            n * m * m / self.triangle(scalar)?
                + n * m / self.tile(&format!("{scalar}/gaussian/d=10"))?
                + small,
        )
    }
}

impl Rival {
    /// Its name for people.
    pub fn name(&self) -> String {
        match self {
            Rival::Peer(peer) => peer.name.into(),
            Rival::Ours(name, _) => format!("ours: {name}"),
        }
    }

    /// Its time.
    pub fn seconds(&self, ours: &Measurements, theirs: &[Line]) -> Option<f64> {
        match self {
            Rival::Peer(peer) => peer.value(theirs),
            Rival::Ours(_, bench) => ours.seconds(bench),
        }
    }
}

impl Peer {
    /// One that prints a single line.
    pub fn new(name: &'static str, arguments: &str, tool: &'static str, key: &'static str) -> Self {
        Peer { name, arguments: arguments.into(), tool, only: &[], key }
    }

    /// Its time, or what else the key stands for.
    pub fn value(&self, lines: &[Line]) -> Option<f64> {
        self.line(lines)?.number(self.key)
    }

    /// Its megabytes before the work.
    pub fn base(&self, lines: &[Line]) -> Option<f64> {
        self.line(lines)?.number("base_rss_mb")
    }

    fn line<'a>(&self, lines: &'a [Line]) -> Option<&'a Line> {
        let fits = |line: &Line| {
            self.only.iter().all(|(key, value)| line.text(key).as_deref() == Some(value))
        };
        lines
            .iter()
            .find(|line| line.arguments == self.arguments && line.tool() == self.tool && fits(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_come_from_rates_of_the_run() {
        let rates = [
            ("gemm_f64/2000", 0.16),
            ("syrk_f64/2000", 0.8),
            ("kernel_block_f64/gaussian/d=10", 0.04),
        ];
        let ours = Measurements::from(rates); // 100 GF/s twice, and a billion entries a second
        let limit = Rates(&ours).nystrom("f64", 5e4, 1e3).unwrap();
        assert!((limit - (0.5 + 0.05 + 8e9 / 3.0 / 1e11)).abs() < 1e-12, "{limit}");
        assert_eq!(Rates(&Measurements::from([])).nystrom("f64", 1.0, 1.0), None);
    }

    #[test]
    fn a_peer_is_found_by_its_keys() {
        let line = |size, seconds| {
            let value = serde_json::json!({"tool": "potrf", "size": size, "dtype": "f64",
                "wall_min": seconds});
            Line { arguments: "T7".into(), value }
        };
        let only = &[("size", "4000"), ("dtype", "f64")];
        let peer = Peer { only, ..Peer::new("SciPy", "T7", "potrf", "wall_min") };
        assert_eq!(peer.value(&[line(2000, 1.0), line(4000, 2.0)]), Some(2.0));
        assert_eq!(peer.value(&[line(2000, 1.0)]), None);
    }
}
