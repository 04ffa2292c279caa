//! The text of the program that the device runs.

use crate::formula::{Formula, Metric};

/// Rows and columns of a tile.
pub(crate) const TILE: usize = 64;
/// Columns of a block are a multiple of this number, after which all sums in `f32` are folded.
pub(crate) const COLUMNS: usize = 2048;
/// The most features of a tile in a workgroup's memory.
const CHUNK: usize = 16;

/// How many right-hand sides a dispatch multiplies, and how threads divide the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Width {
    /// Right-hand sides.
    pub width: usize,
    /// Threads that share the sums of a right-hand side.
    parts: usize,
    /// Right-hand sides of a thread.
    each: usize,
}

impl Width {
    /// One right-hand side: a thread multiplies the values that it computes.
    pub const ONE: Width = Width { width: 1, parts: 16, each: 1 };
    /// Values pass through the workgroup's memory.
    pub const EIGHT: Width = Width { width: 8, parts: 2, each: 1 };
    /// As `EIGHT`.
    pub const MANY: Width = Width { width: 32, parts: 1, each: 2 };

    /// The least width for `t` right-hand sides, or the largest.
    pub fn of(t: usize) -> Self {
        match t {
            0 | 1 => Self::ONE,
            2..=8 => Self::EIGHT,
            _ => Self::MANY,
        }
    }
}

/// d features in chunks of equal size, the last padded with zeros.
pub(crate) fn chunks(d: usize) -> [usize; 2] {
    let count = d.div_ceil(CHUNK);
    [count, d.div_ceil(count)]
}

/// The WGSL text for this formula of points with `d` features.
pub(crate) fn text(formula: &Formula, d: usize, width: Width) -> String {
    let [count, chunk] = chunks(d);
    let Width { width: sides, parts, each } = width;
    let shared = 64 * sides / each;
    let [vector, shared, load, multiply] = if sides == 1 {
        ["vec4<f32>".into(), String::new(), String::new(), one_side()]
    } else {
        let vector = if each == 1 { "f32" } else { "vec2<f32>" };
        [
            vector.into(),
            format!("var<workgroup> vs: array<{vector}, {shared}>;"),
            load(shared),
            many_sides(width),
        ]
    };
    let declare = |j| {
        format!(
            "    var sum{j} = Sum(vec4<f32>(0.0), vec4<f32>(0.0));\n    \
             var partial{j} = vec4<f32>(0.0);\n"
        )
    };
    let fold =
        |j| format!("    sum{j} = add(sum{j}, partial{j});\n    partial{j} = vec4<f32>(0.0);\n");
    let per_side = |text: &dyn Fn(usize) -> String| (0..each).map(text).collect::<String>();
    let replaced = [
        ("$DECLARE", per_side(&declare)),
        ("$D", (count * chunk).to_string()),
        ("$WIDTH", sides.to_string()),
        ("$V>", format!("{vector}>")),
        ("$SHARED", shared),
        ("$PROFILE", formula.profile.clone()),
        ("$PARTS", parts.to_string()),
        ("$CHUNKS", count.to_string()),
        ("$CHUNK", chunk.to_string()),
        ("$LOAD", load),
        ("$FEATURES", features(formula.metric, chunk)),
        ("$MULTIPLY", multiply),
        ("$FOLD", per_side(&fold)),
        ("$FINISH", per_side(&|j| finish(width, j))),
    ];
    let text = include_str!("product.wgsl").to_owned();
    replaced.into_iter().fold(text, |text, (name, value)| text.replace(name, &value))
}

/// Adds `chunk` features to the sums of 4 rows by 4 columns.
fn features(metric: Metric, chunk: usize) -> String {
    let feature = |k: usize| {
        let pair = |r: usize, row: char| {
            let add = match metric {
                Metric::SquaredDistance => format!("fma(u{k}{r}, u{k}{r}, s{r})"),
                Metric::Manhattan => format!("s{r} + abs(u{k}{r})"),
            };
            format!("            let u{k}{r} = x{k}.{row} - z{k};\n            s{r} = {add};\n")
        };
        let rows: String = "xyzw".chars().enumerate().map(|(r, row)| pair(r, row)).collect();
        let at = 16 * k;
        format!(
            "            let x{k} = xs[{at}u + ty];\n            let z{k} = zs[{at}u + tx];\n{rows}"
        )
    };
    (0..chunk).map(feature).collect()
}

/// Multiplies the thread's own values.
fn one_side() -> String {
    "        let v = V[column / 4u + tx];\n        \
     partial0 += vec4<f32>(dot(k0, v), dot(k1, v), dot(k2, v), dot(k3, v));\n"
        .into()
}

/// Copies V of a tile to the workgroup's memory.
fn load(shared: usize) -> String {
    let piece = |i: usize| {
        let at = 256 * i;
        let from = shared / TILE;
        format!("                vs[l + {at}u] = V[column * {from}u + l + {at}u];\n")
    };
    (0..shared / 256).map(piece).collect()
}

/// Passes a column of each thread at a time to all threads, and adds up these columns by
/// themselves: no term goes through more than some 24 additions in `f32`. The column of thread c is
/// at places that depend on c, so that neighbours write to different banks of memory.
fn many_sides(Width { width, parts, each }: Width) -> String {
    let sides = width / each;
    let slice = |(s, column): (usize, char)| {
        let product = |c: usize| {
            let names = if each == 1 { vec![""] } else { vec![".x", ".y"] };
            let add = |(j, name): (usize, &&str)| {
                format!("        q{s}{j} = fma(k{s}{c}, vec4<f32>(v{s}{c}{name}), q{s}{j});\n")
            };
            let products: String = names.iter().enumerate().map(add).collect();
            let of = parts * c;
            format!(
                "        let c{s}{c} = {of}u + part;\n        \
                 let k{s}{c} = zs[c{s}{c} * 16u + (ty + c{s}{c}) % 16u];\n        \
                 let v{s}{c} = vs[(4u * c{s}{c} + {s}u) * {sides}u + side];\n{products}"
            )
        };
        let products: String = (0..16 / parts).map(product).collect();
        let zero = |j| format!("        var q{s}{j} = vec4<f32>(0.0);\n");
        let sum = |j| format!("        partial{j} += q{s}{j};\n");
        let [zeros, sums] = [(0..each).map(zero).collect::<String>(), (0..each).map(sum).collect()];
        let value: Vec<String> = (0..4).map(|r| format!("k{r}.{column}")).collect();
        let value = value.join(", ");
        format!(
            "        workgroupBarrier();\n        \
             zs[tx * 16u + (ty + tx) % 16u] = vec4<f32>({value});\n        \
             workgroupBarrier();\n{zeros}{products}{sums}"
        )
    };
    "xyzw".chars().enumerate().map(slice).collect()
}

/// Adds the sums of all parts to Y.
fn finish(Width { parts, each, .. }: Width, j: usize) -> String {
    format!(
        "    workgroupBarrier();
    xs[l] = sum{j}.hi;
    zs[l] = sum{j}.lo;
    workgroupBarrier();
    if (part == 0u) {{
        let at = 2u * (side * {each}u + {j}u) * block.rows4 + row4 + ty;
        var total = Sum(vec4<f32>(0.0), vec4<f32>(0.0));
        if (block.column > 0u) {{
            total = Sum(Y[at], Y[at + block.rows4]);
        }}
        for (var p = 0u; p < {parts}u; p++) {{
            total = add(total, xs[l + p]);
            total.lo += zs[l + p];
        }}
        Y[at] = total.hi;
        Y[at + block.rows4] = total.lo;
    }}
"
    )
}
