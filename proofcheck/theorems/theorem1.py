"""Theorem 1 (dense softmin).

Statement. Scores -tau<x_i,x_j>, values x_j, readout <x_i, y_i>. For 0 < eps <= 1/2 and tau >= log(n/eps),
0 <= output - target < eps at every position of every sequence of length 1..n. At n = 3, eps = 1/2: tau = log 6.
Source: paper, Theorem 1; mathematics.md A.

Certificates: `softmin` (for all n, eps and w = e^-tau <= eps/n; no transcendental function occurs), then for given
numbers `softmin-temperature` (a rational tau with e^-tau <= eps/n, by a partial sum of the exponential series) and
`softmin-head` (every sequence for small m, by the definition).
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log

from proofcheck.certificate import Checked, certify, in_file_name
from proofcheck.errors import UsageError
from proofcheck.kernel.exact import MAX_BITS, MAX_WORK

from .bundle import Shown, founded

MAX_TERMS = 500  # of the exponential series, as in the kernel


def sufficient_temperature(n: int, eps: Fraction, digits: int = 3) -> Fraction:
    """A rational with few digits just above log(n/eps): a guess by floats, which the certificate decides."""
    scale = 10**digits
    return Fraction(ceil(log(n / eps) * scale), scale)


def temperature(n: int, eps: Fraction, tau: Fraction, rested: Checked) -> Checked:
    """The certificate of e^-tau <= eps/n. Raises `UsageError` if the partial sums allowed do not show it."""
    total, term = Fraction(0), Fraction(1)
    for terms in range(1, MAX_TERMS + 1):
        total, term = total + term, term * tau / terms
        if total >= n / eps or total.denominator.bit_length() > MAX_BITS:
            break
    if total < n / eps:
        nearest = sufficient_temperature(n, eps)
        raise UsageError(
            f"--tau: Theorem 1 needs tau >= log(n/eps), which {terms} terms of the exponential series do not show for "
            f"{tau}; the nearest value that satisfies it is about {nearest}"
        )
    command = f"proofcheck theorem1 -n {n} --eps {eps} --tau {tau}"
    parameters = {"n": n, "eps": eps, "tau": tau}
    return certify("softmin-temperature", parameters, "exponential", {"terms": terms}, command=command, uses=[rested])


def enumerable(m: int, n: int) -> bool:
    """Is the exhaustive check within the kernel's budget? It evaluates every position of 2^(mn) sequences."""
    work: int = (4**m + n * n * 2 ** (m * n)) // 2 + 4
    return work <= MAX_WORK


def show(n: int = 3, eps: Fraction = Fraction(1, 2), tau: Fraction | None = None, m: int | None = None) -> Shown:
    """Theorem 1: the universal statement, one temperature, one exhaustive check (for the largest m <= 4 that fits)."""
    tau = sufficient_temperature(n, eps) if tau is None else tau
    most = next((k for k in range(8, 0, -1) if enumerable(k, n)), 0)
    if m is None:
        m = min(most, 4)
    elif m > most:
        nearest = f"the nearest m that it allows is {most}" if most else "no m is small enough"
        raise UsageError(
            f"-m: the exhaustive check enumerates 2^(m n) sequences, too many at n = {n}, got {m}; {nearest}"
        )
    bundle = founded(["softmin"], prove=True)
    (general,) = bundle.certificates
    label = f"n{n}-eps{in_file_name(eps)}"
    warm = f"theorem1/softmin-temperature-{label}-tau{in_file_name(tau)}"
    bundle.add(warm, temperature(n, eps, tau, bundle.certificates[general]))
    main = [general, warm]
    instances, figures = "a temperature", {"tau": f"{tau} >= log(n/eps) = {log(n / eps):.6f}"}
    if m:
        main.append(f"theorem1/softmin-head-m{m}-{label}")
        command = f"proofcheck theorem1 -n {n} --eps {eps} -m {m}"
        parameters = {"m": m, "n": n, "eps": eps, "w": eps / n}
        bundle.add(main[-1], certify("softmin-head", parameters, "exhaustive", {}, command=command))
        instances += ", one exhaustive check"
        figures["exhaustive"] = f"m={m}, lengths 1..{n}, w={eps / n}"
    return Shown(
        "Theorem 1",
        f"universal: all n >= 1, 0 < eps <= 1/2, w <= eps/n, all m; instances: {instances}",
        bundle,
        main,
        figures,
        ("Softmin",),
    )
