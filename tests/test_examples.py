"""The examples run, on the libraries that are installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("torch")
EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.filterwarnings("ignore")
def test_libraries(capsys):
    specification = importlib.util.spec_from_file_location("libraries", EXAMPLES / "libraries.py")
    example = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(example)
    found = list(example.refutations())
    missing = capsys.readouterr().out.count("not installed")
    assert len(found) + missing == len(example.LAYERS)
    for _, refutation, lines in found:
        assert refutation.certificate.report.status == 0
        assert "no affine readout repairs them" in lines[-1]
