"""Bounds: the time of a layer bound and of the kernel's checks against m, as ratios to the smallest m of each group."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import partial

from proofcheck.bounds import best, hamming, heads, layers, small
from proofcheck.certificate import Checked
from proofcheck.kernel.check import Certificate, Report, check
from proofcheck.theorems.bundle import foundation

from .timing import seconds

N, EPS = 3, Fraction(1, 2)
LAYERS = (64, 256, 1024, 2048, 4096)
HEADS = (16, 32, 64)
DISTANCES = (32, 64, 128, 192)


def known() -> dict[str, Report]:
    claims = ("approximate-identity", "gap-domination-symbolic", "domination-sufficient", "softmin")
    return {certificate.id: certificate.report for _, certificate in map(foundation, claims)}


def checking(certificate: Checked, repeat: int = 3) -> float:
    """The kernel's time for the bytes of one certificate, what it rests on having been checked."""
    reports = known()
    return seconds(lambda: check(Certificate(certificate.data), reports), repeat)


def ratios(name: str, ms: Iterable[int], times: Iterable[float]) -> None:
    pairs = list(zip(ms, times, strict=True))
    (first, base), *rest = pairs
    grown = ", ".join(f"m={m}: {time / base:.3g}" for m, time in rest)
    print(f"  {name}: m={first}: {base * 1000:.3g} ms = 1; {grown}")


def timed(name: str, certificates: dict[int, Checked | None]) -> None:
    """The kernel's time for those that were found."""
    found = {m: certificate for m, certificate in certificates.items() if certificate is not None}
    missing = [m for m in certificates if m not in found]
    if found:
        ratios(name, found, [checking(certificate) for certificate in found.values()])
    if missing:
        print(f"  {name}: no head found for m = {', '.join(map(str, missing))}")


def run() -> None:
    known()
    print(f"layers, n = {N}, eps = {EPS}; values are written out up to m = {best.LARGEST_M}, logarithms beyond")
    best_layers = [layers.best_layer(m, N, EPS) for m in LAYERS]  # fills the table of factors
    found = {layer.M: layer for layer in best_layers if layer is not None}
    ratios("choosing (floats)", LAYERS, [seconds(partial(layers.best_layer, m, N, EPS), 3) for m in LAYERS])
    usable = [m for m in found if m <= best.LARGEST_M]
    certificates, times = [], []
    for m in usable:
        make = partial(layers.certificate, m, N, EPS, found[m], "bench")
        certificates.append(make())
        times.append(seconds(make, 3))
    ratios("certificate, checked once (integers)", usable, times)
    ratios("the kernel alone", usable, [checking(certificate) for certificate in certificates])

    print("heads by Hamming distance")
    degrees = {m: hamming.least_degree(m, N, EPS) for m in DISTANCES}
    usable = [m for m in DISTANCES if degrees[m] is not None]
    times, made_by_distance = [], {}
    for m in usable:
        degree, base = degrees[m] or (0, Fraction(1))
        times.append(seconds(partial(hamming.certificate, m, degree, base, N, EPS, "bench"), 3))
        made_by_distance[m] = hamming.certificate(m, degree, base, N, EPS, "bench")
    ratios("certificate of the least degree, checked once", usable, times)
    timed("the kernel alone", made_by_distance)

    print("class heads, the kernel alone")
    timed("level-symmetric, degree m/4", {m: heads.symmetric(m, m // 4, N, EPS, "bench") for m in HEADS})
    shapes = {m: heads.total_degree(m, 2, Fraction(1)) for m in HEADS}
    made = {m: heads.certificate(shape, N, EPS, "bench", one_hot_above=4) for m, shape in shapes.items()}
    timed("degree 2 in overlap and weight, weights up to 4, one-hot above", made)

    print("small m: refuted sign patterns")
    for ground in small.REFUTED:
        certificate = small.refuted(ground, N, EPS, ground, "bench")
        time = checking(certificate)
        print(f"  ground {ground}: {len(certificate.data)} bytes, kernel {time * 1000:.3g} ms")
