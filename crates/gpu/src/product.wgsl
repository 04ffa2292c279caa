// Y = K(X, Z) V for a block of rows and a block of columns.
//
// A workgroup of 16 × 16 threads computes 64 rows. It takes 64 columns at a time: a thread computes
// 4 × 4 kernel values from $CHUNK features at a time, and multiplies them by V. Sums of 128
// products are f32; they are added up as two-float numbers.
//
// Layout: X and Z by features, $D padded features of all points. V by columns, $WIDTH numbers each.
// Y by right-hand sides, first the high parts of all rows, then the low parts.

struct Block {
    row: u32,
    column: u32,
    end: u32,
    // padded numbers of points, divided by 4
    rows4: u32,
    columns4: u32,
    // 0, which a compiler does not know
    zero: u32,
    unused_0: u32,
    unused_1: u32,
}

struct Sum {
    hi: vec4<f32>,
    lo: vec4<f32>,
}

@group(0) @binding(0) var<storage, read> X: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> Z: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> V: array<$V>;
@group(0) @binding(3) var<storage, read_write> Y: array<vec4<f32>>;
@group(0) @binding(4) var<uniform> block: Block;

var<workgroup> xs: array<vec4<f32>, 256>;
var<workgroup> zs: array<vec4<f32>, 256>;
$SHARED

// x, behind which a compiler cannot look, so that it reassociates nothing
fn keep(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ vec4<u32>(block.zero));
}

// sum + x: the rounding error of hi + x is exact (D. Knuth's two-sum)
fn add(sum: Sum, x: vec4<f32>) -> Sum {
    let hi = keep(sum.hi + x);
    let added = keep(hi - sum.hi);
    let error = keep(sum.hi - keep(hi - added)) + keep(x - added);
    return Sum(hi, sum.lo + error);
}

// ln(1 + u) for −0.3 < u < 0.42: 2 artanh z, z = u/(2 + u)
fn ln_near_one(u: vec4<f32>) -> vec4<f32> {
    let z = u / (u + 2.0);
    let y = z * z;
    let tail = y * (1.0 / 3.0 + y * (1.0 / 5.0 + y * (1.0 / 7.0 + y * (1.0 / 9.0))));
    return 2.0 * fma(z, tail, z);
}

// ln w for w > 0: w = m 2^e with √½ ≤ m < √2
fn ln_of(w: vec4<f32>) -> vec4<f32> {
    let bits = bitcast<vec4<u32>>(w) + vec4<u32>(0x3f800000u - 0x3f3504f3u);
    let e = vec4<f32>(vec4<i32>(bits >> vec4<u32>(23u)) - vec4<i32>(127));
    let m = bitcast<vec4<f32>>((bits & vec4<u32>(0x007fffffu)) + vec4<u32>(0x3f3504f3u));
    let ln = fma(e, vec4<f32>(9.0580006e-6), ln_near_one(m - 1.0));
    return select(fma(e, vec4<f32>(0.69313812), ln), vec4<f32>(-3e38), w < vec4<f32>(1.2e-38));
}

// ln(1 + u) for u ≥ 0
fn ln_1p(u: vec4<f32>) -> vec4<f32> {
    return select(ln_of(u + 1.0), ln_near_one(u), u < vec4<f32>(0.41));
}

// s^p for s ≥ 0, p > 0
fn power(s: vec4<f32>, p: f32) -> vec4<f32> {
    return select(exp(p * ln_of(s)), vec4<f32>(0.0), s < vec4<f32>(1.2e-38));
}

fn profile(s0: vec4<f32>) -> vec4<f32> {
$PROFILE
}

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) l: u32, @builtin(workgroup_id) group: vec3<u32>) {
    // 4 rows and 4 columns of the 64 × 64
    let tx = l % 16u;
    let ty = l / 16u;
    // the part of the sums of some right-hand sides that the thread adds up
    let part = tx % $PARTSu;
    let side = tx / $PARTSu;
    let row4 = block.row / 4u + group.x * 16u;
    var tiles = 0u;
$DECLARE
    for (var column = block.column; column < block.end; column += 64u) {
        var s0 = vec4<f32>(0.0);
        var s1 = vec4<f32>(0.0);
        var s2 = vec4<f32>(0.0);
        var s3 = vec4<f32>(0.0);
        for (var chunk = 0u; chunk < $CHUNKSu; chunk++) {
            workgroupBarrier();
            if (l < $CHUNKu * 16u) {
                let k = chunk * $CHUNKu + ty;
                zs[l] = Z[k * block.columns4 + column / 4u + tx];
                if ($CHUNKSu > 1u || column == block.column) {
                    xs[l] = X[k * block.rows4 + row4 + tx];
                }
            }
            if (chunk == 0u) {
$LOAD
            }
            workgroupBarrier();
$FEATURES
        }
        let k0 = profile(s0);
        let k1 = profile(s1);
        let k2 = profile(s2);
        let k3 = profile(s3);
$MULTIPLY
        tiles += 1u;
        if (tiles == 2u * $PARTSu) {
            tiles = 0u;
$FOLD
        }
    }
$FOLD
$FINISH
}
