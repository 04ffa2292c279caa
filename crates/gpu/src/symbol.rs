//! Writes a formula of the CPU's kernels as WGSL: the arithmetic in which it is evaluated notes
//! every operation.

use nystrom_kernels::{Lane, Profile};
use std::cell::{Cell, RefCell};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// The statements written so far.
#[derive(Debug, Default)]
struct Statements {
    text: RefCell<String>,
    count: Cell<usize>,
    /// Whether the formula calls a function of numbers that has no text.
    opaque: Cell<bool>,
}

/// The value of the statement `number`; the argument is number 0.
#[derive(Debug, Clone, Copy)]
struct Symbol<'a> {
    statements: &'a Statements,
    number: usize,
}

/// The statements of κ(s0), the last of which returns it. `None` if κ calls [`Lane::map`].
pub(crate) fn statements(profile: &impl Profile) -> Option<String> {
    let statements = Statements::default();
    let value = profile.at(Symbol { statements: &statements, number: 0 });
    let last = format!("    return s{};\n", value.number);
    (!statements.opaque.get()).then(|| statements.text.take() + &last)
}

/// `c` in `f32`, the nearest finite number, as WGSL writes it.
pub(crate) fn number(c: f64) -> String {
    let most = f64::from(f32::MAX);
    format!("{:e}", c.clamp(-most, most) as f32)
}

impl Symbol<'_> {
    fn is(self, expression: &str) -> Self {
        let number = self.statements.count.get() + 1;
        self.statements.count.set(number);
        let line = format!("    let s{number} = {expression};\n");
        self.statements.text.borrow_mut().push_str(&line);
        Symbol { number, ..self }
    }

    fn calls(self, function: &str) -> Self {
        self.is(&format!("{function}(s{})", self.number))
    }
}

macro_rules! operation {
    ($trait:ident, $method:ident, $op:literal) => {
        impl $trait for Symbol<'_> {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                self.is(&format!("s{} {} s{}", self.number, $op, other.number))
            }
        }
        impl $trait<f64> for Symbol<'_> {
            type Output = Self;
            fn $method(self, c: f64) -> Self {
                self.is(&format!("s{} {} {}", self.number, $op, number(c)))
            }
        }
    };
}
operation!(Add, add, "+");
operation!(Sub, sub, "-");
operation!(Mul, mul, "*");
operation!(Div, div, "/");

impl Neg for Symbol<'_> {
    type Output = Self;
    fn neg(self) -> Self {
        self.calls("-")
    }
}

impl Lane for Symbol<'_> {
    fn lit(self, c: f64) -> Self {
        self.is(&format!("vec4<f32>({})", number(c)))
    }
    fn mul_add(self, b: Self, c: Self) -> Self {
        self.is(&format!("fma(s{}, s{}, s{})", self.number, b.number, c.number))
    }
    fn at_most(self, c: f64) -> Self {
        self.is(&format!("min(s{}, vec4<f32>({}))", self.number, number(c)))
    }
    fn sqrt(self) -> Self {
        self.calls("sqrt")
    }
    fn abs(self) -> Self {
        self.calls("abs")
    }
    fn exp(self) -> Self {
        self.calls("exp")
    }
    fn exp_neg(self) -> Self {
        (-self).exp()
    }
    fn ln(self) -> Self {
        self.calls("ln_of")
    }
    fn powf(self, p: f64) -> Self {
        self.is(&format!("power(s{}, {})", self.number, number(p)))
    }
    fn map(self, _: impl Fn(f64) -> f64) -> Self {
        self.statements.opaque.set(true);
        self
    }
}
