"""The verbs in Python: what is accepted as a head, and what comes back."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import pytest

import proofcheck
from proofcheck import api, exhaust, refuter
from proofcheck.errors import Outside, UsageError
from proofcheck.heads import builtin, files


def test_refute_by_name():
    found = proofcheck.refute("elu1", m=24, r=64)
    assert isinstance(found, refuter.Refutation)
    assert found.triple.breaks(3, Fraction(1, 2)) == found.condition == "ii"
    assert found.triple.xy <= found.required
    again = proofcheck.refute("elu1", m=24, r=64)
    assert again.certificate.id == found.certificate.id
    other = proofcheck.refute("elu1", m=24, r=64, seed=1)
    assert other.certificate.id != found.certificate.id


def test_options_go_to_the_kernel():
    found = proofcheck.refute("elu1", 20, r=8, n=5, eps="1/3", scale=2)
    expected = refuter.refute(builtin.build("elu1", 20, 8, 0, {"scale": 2}), 5, Fraction(1, 3))
    assert isinstance(found, refuter.Refutation)
    assert found.triple == expected.triple
    assert (found.n, found.eps) == (5, Fraction(1, 3))


def test_none_found():
    found = proofcheck.refute("softmin", m=8, budget=1_000)
    assert isinstance(found, refuter.NoneFound)
    assert found.evaluations <= found.budget == 1_000


def test_certify():
    found = proofcheck.certify("softmin", m=3)
    assert isinstance(found, exhaust.HeadCorrect)
    assert found.status == 0
    assert found.certificate is not None
    kernel = proofcheck.certify("symmetric", m=4, K=1)
    assert isinstance(kernel, exhaust.KernelCorrect)
    assert kernel.status == 0
    wrong = proofcheck.certify("softmin", m=3, w="1/2")
    assert isinstance(wrong, exhaust.Counterexample)
    assert wrong.error >= Fraction(1, 2)
    assert isinstance(proofcheck.certify("constant", m=3), exhaust.Refutation)


def test_what_the_kernel_rechecks_beyond_tables():
    """B3(a) with 57 features at m = 10: by classes of queries; nothing where the head is none of these."""
    found = proofcheck.certify("symmetric", m=10, K=2, cutoff=9)
    assert isinstance(found, exhaust.KernelCorrect)
    assert (found.status, found.certificate) == (3, None)
    assert found.by_class is not None
    assert found.by_class.report.certificate.claim == "head-exists"
    assert found.by_class.report.status == 0
    assert proofcheck.certify("symmetric", m=4, K=1).by_class is None
    head = builtin.build("symmetric", 10, 64, 0, {"K": 2, "cutoff": 9})
    assert exhaust.decide(head, certified=False).by_class is None


def test_heads_and_files(tmp_path):
    head = builtin.build("one-hot", 3, 8)
    assert api.load(head) is api.load(head, 3) is head
    with pytest.raises(UsageError, match="has m = 3, got m = 4"):
        api.load(head, 4)
    files.save(head, tmp_path / "head.npz")
    assert isinstance(proofcheck.certify(str(tmp_path / "head.npz"), 3), exhaust.HeadCorrect)


def test_refusals():
    with pytest.raises(UsageError, match="say how many bits"):
        proofcheck.refute("elu1")
    with pytest.raises(UsageError, match=r"expected a Head, a SPEC or a torch.nn.Module, got int"):
        proofcheck.refute(3, m=4)
    with pytest.raises(UsageError, match="did you mean"):
        proofcheck.certify("elu", m=4)
    with pytest.raises(Outside, match="Theorem 8"):
        proofcheck.refute("cosformer", m=4)
    with pytest.raises(UsageError, match="unknown parameter 'scle', did you mean 'scale'"):
        proofcheck.refute("elu1", m=4, scle=2)
    with pytest.raises(UsageError, match="enumerated up to m = 14"):
        proofcheck.certify("softmin", m=15)
    for bad in ("0", "2/3"):
        with pytest.raises(UsageError, match="eps"):
            proofcheck.refute("elu1", m=8, eps=bad)
    with pytest.raises(UsageError, match="n"):
        proofcheck.certify("elu1", m=8, n=2)


def test_modules():
    torch = pytest.importorskip("torch")
    from tests.neural.modules import Speaking

    found = proofcheck.refute(Speaking(10), m=10)
    assert isinstance(found, refuter.Refutation)
    embedding = torch.eye(10)[:, :8]
    assert isinstance(proofcheck.refute(Speaking(8), m=10, token_embed=embedding), refuter.Refutation)
    assert isinstance(proofcheck.certify(Speaking(6), m=6), exhaust.Refutation)


def test_the_package_stays_light():
    """The verbs are imported when they are asked for: the kernel's process sees nothing of them."""
    code = (
        "import sys, proofcheck; before = 'numpy' in sys.modules; proofcheck.refute; "
        "sys.exit(before or 'numpy' not in sys.modules or 'torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    with pytest.raises(AttributeError, match="has no attribute 'prove'"):
        proofcheck.prove  # noqa: B018


def test_certify_with_given_values():
    """The best readout of the head's own values, and none where the kernel allows other tables only."""
    assert type(proofcheck.certify("softmin", m=3, w="1/2", values="own")).__name__ == "Fitted"
    assert type(proofcheck.certify("softmin", m=4, w="7/10", values="overlap")).__name__ == "NoReadout"
    assert isinstance(proofcheck.certify("softmin", m=4, w="4/5", values="linear"), exhaust.Refutation)
    with pytest.raises(UsageError, match="expected linear"):
        proofcheck.certify("softmin", m=2, values="square")
