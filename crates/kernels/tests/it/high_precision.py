"""Prints the table of high_precision.rs: `python high_precision.py` with mpmath (50 digits)."""
from mpmath import mp, mpf, sqrt, exp, besselk, gamma, pi, sin, bernpoly, factorial

mp.dps = 50
X, Y = [mpf(1) / 4, mpf(-3) / 2, mpf(2)], [mpf(1) / 2, mpf(-1), mpf(5) / 8]
r = sqrt(sum((a - b) ** 2 for a, b in zip(X, Y)))
l1 = sum(abs(a - b) for a, b in zip(X, Y))
dot = sum(a * b for a, b in zip(X, Y))
L = mpf(3) / 4


def matern(nu, t):
    return 2 ** (1 - nu) / gamma(nu) * t**nu * besselk(nu, t)


def row(name, value):
    print(f'    ("{name}", {mp.nstr(value, 20)}),')


row("gaussian", exp(-(r**2) / (2 * L**2)))
row("gaussian gamma", exp(-mpf(3) / 8 * r**2))
row("gaussian bandwidth", exp(-(r**2) / mpf(5)))
row("laplacian euclidean", exp(-r / L))
row("laplacian l1", exp(-l1 / L))
row("matern 3/2", matern(mpf(3) / 2, sqrt(3) * r / L))
row("matern 5/2", matern(mpf(5) / 2, sqrt(5) * r / L))
row("matern 0.3", matern(mpf(3) / 10, sqrt(2 * mpf(3) / 10) * r / L))
row("rational quadratic", (1 + r**2 / (2 * mpf(7) / 10 * L**2)) ** (-mpf(7) / 10))
for q in ("0.3", "1.7"):
    row(f"power exponential {q}", exp(-((r / L) ** mpf(float(q)))))
row("power exponential l1 0.7", exp(-((l1 / L) ** mpf(0.7))))
row("linear", dot + mpf(1) / 2)
row("polynomial", (mpf(1) / 4 * dot + 1) ** 5)
row("periodic", exp(-2 * sum(sin(pi * (a - b) / mpf(3)) ** 2 for a, b in zip(X, Y)) / L**2))
scales = [mpf(1) / 2, mpf(3), mpf(5) / 4]
row("gaussian ard", exp(-sum(((a - b) / s) ** 2 for a, b, s in zip(X, Y, scales)) / 2))
for b in (1, 2, 3, 4):
    u = (X[0] - mpf(5) / 8) % 1
    row(f"bernoulli {b}", (-1) ** (b - 1) * bernpoly(2 * b, u) / factorial(2 * b))
print("--- matern")
for nu in ("0.1", "0.5", "0.77", "1", "1.5", "2", "3.3", "4.5", "10.5", "25"):
    for t in ("1e-12", "1e-5", "0.01", "0.3", "1", "4.5", "30", "300", "650"):
        value = matern(mpf(float(nu)), mpf(float(t)))
        print(f"    ({float(nu)}, {float(t)}, {mp.nstr(value, 20)}),")
print("--- slopes: s, kappa'(s) for the profiles of gradients.rs")


def power(q):
    return lambda s: exp(-(s ** (mpf(float(q)) / 2)))


def rational(alpha):
    return lambda s: (1 + s / (2 * alpha)) ** (-alpha)


profiles = {
    "gaussian": lambda s: exp(-s / 2),
    "matern 1/2": lambda s: exp(-sqrt(s)),
    "matern 3/2": lambda s: matern(mpf(3) / 2, sqrt(3 * s)),
    "matern 5/2": lambda s: matern(mpf(5) / 2, sqrt(5 * s)),
    "matern 0.3": lambda s: matern(mpf(0.3), sqrt(2 * mpf(0.3) * s)),
    "matern 1": lambda s: matern(mpf(1), sqrt(2 * s)),
    "matern 4": lambda s: matern(mpf(4), sqrt(8 * s)),
    "rational 0.7": rational(mpf(0.7)),
    "rational 1": rational(mpf(1)),
    "power 0.3": power("0.3"),
    "power 1": power("1"),
    "power 1.7": power("1.7"),
    "power 2": power("2"),
}
mp.dps = 60
for name, kappa in profiles.items():
    for s in ("1e-8", "0.01", "0.7", "2.5", "40"):
        x = mpf(float(s))
        slope = mp.diff(kappa, x, h=x * mpf(10) ** -15)
        print(f'    ("{name}", {float(s)}, {mp.nstr(slope, 17)}),')
