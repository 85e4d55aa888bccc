"""The picture of a chain: both formats, the numbers in it, and what is refused."""

import xml.etree.ElementTree as ElementTree
from fractions import Fraction

import pytest

from proofcheck.chains import Chain, best, uniform
from proofcheck.errors import UsageError
from proofcheck.report.chains import draw

HALF = Fraction(1, 2)


def texts(path):
    """The texts of an SVG file, which matplotlib writes as text and not as outlines."""
    tags = ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")
    return ["".join(tag.itertext()).strip() for tag in tags]


def test_svg_shows_levels_factors_and_products(tmp_path):
    """The best chain 4+4+4: levels, three factors 3, the products 1, 3, 9, 27."""
    path = tmp_path / "chain.svg"
    draw(best(3, HALF, 12), path)
    found = texts(path)
    assert found.count("×3") == 3
    assert {str(level) for level in range(13)} <= set(found)
    assert {"1", "3", "9", "27"} <= set(found)
    assert any("n = 3,  ε = 1/2" in text and text.endswith("w = 27") for text in found)


def test_long_numbers_are_shortened(tmp_path):
    """A product of many digits is given to three of them."""
    path = tmp_path / "chain.svg"
    draw(best(8, Fraction(3, 10), 40), path)
    assert "≈1.21e24" in texts(path)  # 4^40 = 1208925819614629174706176
    draw(best(3, Fraction(9, 20), 16), path)
    assert "≈40.9" in texts(path)  # (31/9)^3


@pytest.mark.parametrize("chain", [best(3, HALF, 2), uniform(3, HALF, 23, 5), best(100, HALF, 100)])
def test_png(chain, tmp_path):
    """Short, uneven and long chains give a PNG file."""
    draw(chain, tmp_path / "chain.PNG")
    assert (tmp_path / "chain.PNG").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["a.svg", "a.png"])
def test_the_same_chain_gives_the_same_bytes(name, tmp_path):
    """No date and no random identifiers."""
    first, second = tmp_path / f"1{name}", tmp_path / f"2{name}"
    for path in (first, second):
        draw(best(3, HALF, 12), path)
    assert first.read_bytes() == second.read_bytes()


def test_what_cannot_be_drawn_is_refused(tmp_path):
    """Another suffix, no gaps, too long; nothing is written."""
    for chain, name, message in [
        (best(3, HALF, 12), "chain.pdf", r"ends in \.svg or \.png, got chain\.pdf"),
        (Chain(3, HALF, ()), "chain.svg", r"a distance of 1\.\.100 to draw, got 0"),
        (best(3, HALF, 101), "chain.svg", r"a distance of 1\.\.100 to draw, got 101"),
    ]:
        with pytest.raises(UsageError, match=message):
            draw(chain, tmp_path / name)
    assert list(tmp_path.iterdir()) == []
