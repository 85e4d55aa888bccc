"""Number formats agree with the hardware's own, number by number."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofcheck.errors import UsageError
from proofcheck.plan.formats import FORMATS, floor_log2, named, power

torch = pytest.importorskip("torch")
NATIVE = {
    "fp32": torch.float32,
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
    "fp8": torch.float8_e4m3fn,
    "fp8-e5m2": torch.float8_e5m2,
}


@pytest.mark.parametrize("name", NATIVE)
def test_limits_are_those_of_torch(name: str) -> None:
    kind, found = torch.finfo(NATIVE[name]), FORMATS[name]
    assert found.largest == Fraction(kind.max)
    assert found.normal == Fraction(kind.tiny)
    assert found.bits == kind.bits
    assert 2 * found.unit == Fraction(kind.eps)


@given(st.sampled_from(sorted(NATIVE)), st.floats(-3e5, 3e5, width=32) | st.floats(-(2.0**-10), 2.0**-10, width=32))
def test_rounding_is_that_of_torch(name: str, value: float) -> None:
    """float32 -> format rounds once, in torch and here. Beyond the largest number conventions differ."""
    found = FORMATS[name].rounded(Fraction(value))
    native = float(torch.tensor(value, dtype=torch.float32).to(NATIVE[name]).float())
    if found is None:
        assert not np.isfinite(native) or abs(native) == float(FORMATS[name].largest)
    else:
        assert found == Fraction(native)


@given(st.integers(0, 2**16 - 1))
def test_every_fp16_is_a_fixed_point_and_midpoints_go_to_even(code: int) -> None:
    value = np.uint16(code).view(np.float16)
    if np.isfinite(value):
        exact = Fraction(float(value))
        assert FORMATS["fp16"].rounded(exact) == exact
        above = np.nextafter(value, np.float16(np.inf))
        if np.isfinite(above):
            middle = (exact + Fraction(float(above))) / 2
            even = value if code % 2 == 0 else above
            assert FORMATS["fp16"].rounded(middle) == Fraction(float(even))


def test_least_numbers_and_overflow() -> None:
    fp16 = FORMATS["fp16"]
    assert fp16.subnormal == power(-24)
    assert fp16.rounded(fp16.subnormal / 2) == 0  # a tie goes to zero
    assert fp16.rounded(fp16.subnormal * Fraction(51, 100)) == fp16.subnormal
    assert fp16.rounded(Fraction(65519)) == 65504
    assert fp16.rounded(Fraction(65520)) is None


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9))
def test_floor_log2(value: Fraction) -> None:
    assert power(floor_log2(value)) <= value < power(floor_log2(value) + 1)


@pytest.mark.parametrize(
    "name",
    ["int0", "int65", "int", "fp4", "int٣", "int-1", "int999999", "int0640", "int08", "int" + "0" * 5000 + "8", ""],
)
def test_unknown_formats_are_named(name: str) -> None:
    with pytest.raises(UsageError, match="expected one of fp64"):
        named(name)


def test_integer_formats_do_not_round() -> None:
    assert named("int3").bits == 3
    with pytest.raises(ValueError, match="codes, not of numbers"):
        named("int8").rounded(Fraction(1))
