"""proofcheck refute, certify, heads: the real command, on built-in kernels, files and a user's own code."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from proofcheck.heads import builtin, files
from proofcheck.kernel.check import check_files

from .running import inside, outside

ROOT = Path(__file__).parents[2]

MODULE = '''
import torch
from torch import nn
from torch.nn.functional import elu


class Layer(nn.Module):
    """Linear attention as one writes it."""

    def __init__(self, dim, r=16, change=None):
        super().__init__()
        torch.manual_seed(0)
        self.token_dim, self.change = dim, change
        self.q, self.k, self.v = (nn.Linear(dim, r, bias=False) for _ in range(3))

    def query_features(self, x):
        return self.q(x) if self.change == "signed" else elu(self.q(x)) + 1

    def key_features(self, x):
        found = elu(self.k(x)) + 1
        if self.change == "nan":
            return torch.where(x.sum(-1, keepdim=True) > 0, found, torch.nan)
        return found * 0 if self.change == "zero" else found

    def values(self, x):
        return self.v(x)

    def forward(self, x):
        a = self.query_features(x) @ self.key_features(x).transpose(-1, -2)
        return a @ self.v(x) / a.sum(-1, keepdim=True)


layer = Layer(12)


def make(m, r, seed):
    return Layer(m, r)


def signed(m, r, seed):
    return Layer(m, r, "signed")


def nan(m, r, seed):
    return Layer(m, r, "nan")


def zero(m, r, seed):
    return Layer(m, r, "zero")


class Features(nn.Module):
    """Feature maps and nothing else."""

    token_dim = 12
    query_features = staticmethod(lambda x: torch.exp(x[..., :3]))
    key_features = staticmethod(lambda x: torch.exp(x[..., 1:4]))


class Failing(Features):
    values = staticmethod(lambda x: x)

    def forward(self, x):
        raise RuntimeError("needs a GPU")


features, failing = Features(), Failing()
'''

TABLES = '''
import numpy as np
from proofcheck.heads import Head


def holes(m, r, seed):
    """NaN at half of all tokens."""
    def keys(b):
        found = np.ones((len(b), r))
        found[b[:, 0] == 1] = np.nan
        return found
    return Head("holes", m, r, lambda b: np.ones((len(b), r)), keys)


def wrong_shape(m, r, seed):
    return Head("wrong", m, r, lambda b: np.ones((len(b), r + 1)), lambda b: np.ones((len(b), r)))
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A user's folder, from which the command is run."""
    (tmp_path / "cli_layers.py").write_text(MODULE)
    (tmp_path / "cli_tables.py").write_text(TABLES)
    (tmp_path / "cli_broken.py").write_text("import no_such_library_at_all\n")
    monkeypatch.chdir(tmp_path)
    for name in [name for name in sys.modules if name.startswith("cli_")]:
        monkeypatch.delitem(sys.modules, name)
    return tmp_path


def verified(folder):
    """Checks the files below a folder with the kernel, as its own process with the standard library alone."""
    command = [sys.executable, "-S", "-m", "proofcheck.kernel", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def printed(done):
    return " ".join(done.stdout.split())


# ------------------------------------------------------------------------------------------ refute


@pytest.fixture(scope="module")
def refuted(tmp_path_factory):
    out = tmp_path_factory.mktemp("refuted")
    return outside("refute", "elu1", "-m", "24", "-r", "64", "--out", out), out


def test_refute_says_what_goes_wrong(refuted):
    done, out = refuted
    assert done.returncode == 0
    assert done.stderr == ""
    text = printed(done)
    assert "with 64 features nothing is promised: searching" in text
    assert "elu1 (m=24, r=64) is refuted against every readout (condition ii of B0)" in text
    rows = {line.split()[0]: line.split() for line in done.stdout.splitlines() if line.startswith(("  x =", "  y ="))}
    overlap = sum(a == b == "1" for a, b in zip(rows["x"][2], rows["y"][2], strict=True))
    assert len(rows["x"][2]) == 24
    assert int(rows["y"][-1]) == overlap
    assert "any readout needs alpha(x,y) > " in text
    assert "No values and no affine readout repair this" in text
    (path,) = out.glob("*.json")
    assert str(path) in done.stdout
    assert path.name.startswith("refutation-elu1-m24-r64-n3-eps1over2-")


def test_the_kernel_verifies_what_was_written(refuted):
    assert "2 files: 2 verified" in verified(refuted[1])


def test_the_command_in_the_certificate_makes_it_again(refuted, tmp_path):
    (path,) = refuted[1].glob("*.json")
    command = json.loads(path.read_text())["producer"]["command"]
    assert command.split()[0] == "proofcheck"
    done = inside(*command.split()[1:], "--out", tmp_path)
    assert done.exit_code == 0
    assert (tmp_path / path.name).read_bytes() == path.read_bytes()


def test_refute_as_json(tmp_path):
    done = outside("refute", "exp", "-m", "100", "-r", "32", "--seed", "3", "--json", "--out", tmp_path)
    assert done.returncode == 0
    result = json.loads(done.stdout)
    assert (result["outcome"], result["status"], result["m"], result["features"]) == ("refuted", 0, 100, 32)
    assert result["guaranteed"] is True
    assert "refuted in advance" in " ".join(done.stderr.split())
    x, y, z = (int(result["triple"][name], 16) for name in "xyz")
    assert max(x, y, z) < 2**100
    assert (x & z).bit_count() - (x & y).bit_count() == result["triple"]["gap"]
    (report,) = [r for r in check_files([str(p) for p in tmp_path.rglob("*.json")]) if r.path == result["file"]]
    assert report.certificate.id == result["certificate"]


@pytest.mark.parametrize("kernel", ["relu", "sqrelu", "hedgehog", "taylor", "dpfp", "favor", "softmax-dim", "constant"])
def test_refute_the_others(tmp_path, kernel):
    done = inside("refute", kernel, "-m", "48", "-r", "32", "-n", "4", "--eps", "1/3", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert "is refuted against every readout" in done.stdout


def test_none_found_is_status_3(tmp_path):
    done = inside("refute", "softmin", "-m", "8", "--budget", "3000", "--out", tmp_path)
    assert done.exit_code == 3
    assert "None found in " in done.stdout
    assert "nothing follows from that" in done.stdout
    assert list(tmp_path.iterdir()) == []
    result = json.loads(inside("refute", "softmin", "-m", "8", "--budget", "3000", "--json").stdout)
    assert (result["outcome"], result["status"], result["budget"]) == ("none found", 3, 3000)
    assert result["evaluations"] <= 3000
    assert result["best_ratio"] < 1


def test_signed_kernels_are_outside(tmp_path):
    done = inside("refute", "fourier", "-m", "12", "--out", tmp_path)
    assert done.exit_code == 3
    assert "is outside the theorems (signed): alpha(x,z) = -" in done.stdout
    result = json.loads(inside("refute", "fourier", "-m", "12", "--json", "--out", tmp_path).stdout)
    assert (result["outcome"], result["status"]) == ("outside", 3)
    assert result["value"].startswith("-")


def test_position_dependent_kernels_are_outside():
    done = inside("refute", "cosformer", "-m", "12")
    assert done.exit_code == 3
    assert "outside the theorems (position-dependent)" in done.stderr
    assert "Theorem 8" in done.stderr


USAGE = [
    (("elu7", "-m", "8"), "unknown head 'elu7'; did you mean relu or elu1"),
    (("elu1", "-m", "1001"), "-m: tokens have 1 <= m <= 1000 bits here, got 1001; the nearest value"),
    (("elu1", "-m", "0"), "-m: tokens have 1 <= m <= 1000"),
    (("elu1", "-m", "8", "-r", "0"), "-r: a head has 1 <= r <= 1000000 features, got 0"),
    (("elu1", "-m", "8", "-n", "2"), "-n: B0 is about n >= 3 tokens"),
    (("elu1", "-m", "8", "--eps", "0.5"), "--eps: expected 0 < eps <= 1/2"),
    (("elu1", "-m", "8", "--set", "scale"), "--set: expected NAME=VALUE, got 'scale'"),
    (("elu1", "-m", "8", "--set", "=3"), "--set: expected NAME=VALUE"),
    (("elu1", "-m", "8", "--set", "scle=3"), "did you mean 'scale'"),
    (("elu1", "-m", "8", "--set", "scale=big"), "elu1, scale: expected"),
    (("softmin", "-m", "8", "--set", "w=1/8", "--set", "tau=2"), "softmin: give w or tau, not both"),
    (("one-hot", "-m", "13"), "one-hot: expected m <= 12"),
    (("no_such_module:layer", "-m", "8"), "importing no_such_module failed: ModuleNotFoundError"),
    (("cli_broken:layer", "-m", "8"), "importing cli_broken failed: ModuleNotFoundError: No module named 'no_such_lib"),
    (("cli_tables:hole", "-m", "8"), "has no attribute 'hole'; did you mean holes"),
    (("cli_tables:holes", "-m", "8", "-r", "3"), "holes: feature 0 of keys at token 0x"),
    (("cli_tables:wrong_shape", "-m", "8", "-r", "3"), "queries gave an array of shape"),
    (("head.npz", "-m", "8"), "head.npz: no such file"),
    (("head.pt", "-m", "8"), "a pickled file is never read"),
]


@pytest.mark.parametrize("verb", ["refute", "certify"])
@pytest.mark.parametrize(("arguments", "reason"), USAGE)
def test_usage(folder, verb, arguments, reason):
    if "-m: tokens" in reason and verb == "certify":
        reason = "-m: tokens have 1 <= m <= 14"
    done = inside(verb, *arguments)
    assert done.exit_code == 2, done.output
    *notes, line = done.stderr.strip().splitlines()
    assert reason in line
    assert notes == []
    assert not (folder / "found").exists()


def test_import_errors_by_the_real_command(folder):
    done = outside("refute", "cli_broken:layer", "-m", "8", cwd=folder, environment=environment())
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "No module named 'no_such_library_at_all'" in done.stderr


def environment():
    import os

    return {**os.environ, "PYTHONPATH": str(ROOT)}


# ------------------------------------------------------------------------------------------ a user's own module


def test_refute_a_users_own_module(folder):
    pytest.importorskip("torch")
    done = outside("refute", "cli_layers:layer", "-m", "12", cwd=folder, environment=environment())
    assert done.returncode == 0, done.stderr
    text = printed(done)
    assert "replay: residual" in text
    assert "is refuted against every readout" in text
    assert "its own forward in float32" in text
    for name in "YZM":
        assert f" {name} = (" in text
    assert "no affine readout repairs them" in text
    assert "Certificate: found/refutation-Layer-head-0-m12-r16-n3-eps1over2-" in text
    assert "2 verified" in verified(folder / "found")


def test_the_replay_as_json(folder):
    pytest.importorskip("torch")
    done = inside("refute", "cli_layers:make", "-m", "9", "-r", "5", "--json")
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    replay = result["replay"]
    assert replay["beyond_repair"] is True
    assert replay["least"] >= 0.5
    assert replay["noise"] < 1e-5
    x, y, z = (hex(int(result["triple"][name], 16)) for name in "xyz")
    assert replay["sequences"] == [[y, y, x], [z, z, x], [z, y, x]]


MODULES = [
    ("signed", 3, "outside the theorems (signed)"),
    ("nan", 2, "at token 0x0 is nan"),
]


@pytest.mark.parametrize(("name", "status", "reason"), MODULES)
@pytest.mark.parametrize("verb", ["refute", "certify"])
def test_modules_that_cannot_be_judged(folder, verb, name, status, reason):
    pytest.importorskip("torch")
    done = inside(verb, f"cli_layers:{name}", "-m", "8", "-r", "4")
    assert done.exit_code == status, done.output
    assert reason in " ".join(done.output.split())
    assert len(done.stderr.strip().splitlines()) <= 1


@pytest.mark.parametrize("verb", ["refute", "certify"])
def test_a_module_whose_denominators_vanish(folder, verb):
    """Nothing to replay: the sequence (x, .., x) has no output."""
    pytest.importorskip("torch")
    done = inside(verb, "cli_layers:zero", "-m", "8", "-r", "4")
    assert done.exit_code == (0 if verb == "refute" else 1), done.output
    assert "the denominator vanishes on the sequence (x)" in printed(done)
    assert "alpha(x,x) = 0: the sequence (x, .., x) has denominator 0" in printed(done)
    assert "2 verified" in verified(folder / "found")


@pytest.mark.parametrize("name", ["features", "failing"])
def test_a_module_that_cannot_be_replayed_is_refuted_all_the_same(folder, name):
    pytest.importorskip("torch")
    done = inside("refute", f"cli_layers:{name}", "-m", "12")
    assert done.exit_code == 0, done.output
    text = printed(done)
    assert (
        "not replayed: " + ("the module has no forward" if name == "features" else "its forward could not be compared")
        in text
    )
    assert "is refuted against every readout" in text
    assert "own forward" not in text
    assert "replay" not in json.loads(inside("refute", f"cli_layers:{name}", "-m", "12", "--json").stdout)


def test_the_help_says_that_code_is_run():
    for verb in ("refute", "certify"):
        assert "which IMPORTS AND RUNS that code" in " ".join(inside(verb, "--help").stdout.replace("│", "").split())


# ------------------------------------------------------------------------------------------ certify


def test_certify_softmin_with_both_certificates(tmp_path):
    done = outside("certify", "softmin", "-m", "4", "--out", tmp_path)
    assert done.returncode == 0
    assert "some readout of this kernel is correct (error < 1/2) on ALL sequences of length 1..3" in done.stdout
    assert "its own readout is correct (error < 1/2) on ALL sequences of length 1..3" in done.stdout
    assert "3 files: 3 verified" in verified(tmp_path)


@pytest.mark.parametrize(("w", "outcome"), [("2041/5000", "exhaustive-head"), ("4083/10000", "readout refuted")])
def test_the_threshold_of_softmin(tmp_path, w, outcome):
    """At n = 3, eps = 1/2 and m >= 2 the worst sequence is (x, y, x) with |x| = 2, <x,y> = 0, output 4w^2/(1+2w^2):
    below 1/2 if and only if w^2 < 1/6."""
    assert (Fraction(w) ** 2 < Fraction(1, 6)) == (outcome == "exhaustive-head")
    done = inside("certify", "softmin", "-m", "4", "--set", f"w={w}", "--json", "--out", tmp_path)
    result = json.loads(done.stdout)
    assert result["outcome"] == outcome
    assert done.exit_code == result["status"] == (0 if outcome == "exhaustive-head" else 1)
    if outcome == "readout refuted":
        x, y, other = (int(token, 16) for token in result["sequence"])
        assert (x.bit_count(), x & y, x == other, result["target"]) == (2, 0, True, 0)
    verified(tmp_path)


def test_the_counterexample_in_words(tmp_path):
    """Temperature 0.89, below ln(6)/2 = 0.8958..."""
    done = inside("certify", "softmin", "-m", "4", "--set", "tau=89/100", "--out", tmp_path)
    assert done.exit_code == 1
    text = printed(done)
    assert "some readout of this kernel is correct" in text
    assert "its own readout is wrong: a sequence of 3 tokens; the head fails at the first, x:" in text
    assert "<x,.> = 2 2 times" in text
    assert "target 0: the error 0.504" in text
    assert inside("certify", "softmin", "-m", "4", "--set", "tau=9/10", "--out", tmp_path).exit_code == 0


def test_a_kernel_that_no_readout_saves(tmp_path):
    """softmin at w^2 > 1/2: B0 fails at gap 4."""
    done = inside("certify", "softmin", "-m", "4", "--set", "w=71/100", "--out", tmp_path)
    assert done.exit_code == 1
    assert "no readout of this kernel is correct on all sequences" in printed(done)
    assert "a gap of 4" in printed(done)
    verified(tmp_path)


def test_kernel_alone(tmp_path):
    done = inside("certify", "softmin", "-m", "4", "--set", "w=1/2", "--kernel", "--out", tmp_path)
    assert done.exit_code == 0
    assert "its own readout" not in done.stdout


def test_certify_symmetric(tmp_path):
    """B3(a): degree 2 is right for queries of weight <= 9; at m = 6 the tables fit."""
    done = inside("certify", "symmetric", "-m", "6", "--set", "K=2", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert "kernel-correct-symmetric-m6-r22-n3-eps1over2-" in done.stdout
    verified(tmp_path)


@pytest.mark.parametrize(("m", "settings", "rank"), [(10, ("K=2", "cutoff=9"), 57), (10, ("K=3",), 176)])
def test_certify_symmetric_by_classes(tmp_path, m, settings, rank):
    """Too large for tables: status 3, and what the kernel can re-check is said and kept."""
    chosen = [part for setting in settings for part in ("--set", setting)]
    done = inside("certify", "symmetric", "-m", m, *chosen, "--out", tmp_path)
    assert done.exit_code == 3
    text = printed(done)
    assert "Decided here in exact arithmetic; too large for a certificate of the kernel" in text
    assert f"a correct head with {rank} features exists" in text
    assert ("at heavy queries" in text) == (len(settings) == 2)
    assert f"r*({m},3)" in (words := verified(tmp_path)) or str(rank) in words
    result = json.loads(inside("certify", "symmetric", "-m", m, *chosen, "--json", "--out", tmp_path).stdout)
    assert (result["status"], result["outcome"], result["features"]) == (3, "kernel-correct", rank)
    assert f"head-exists-symmetric-m{m}-r{rank}" in result["file_by_class"]


def test_certify_symmetric_with_12_bits(tmp_path):
    done = inside("certify", "symmetric", "-m", 12, "--set", "K=2", "--set", "cutoff=9", "--out", tmp_path)
    assert done.exit_code == 3
    assert "a correct head with 158 features exists" in printed(done)
    verified(tmp_path)


def test_certify_softmin_with_8_bits(tmp_path):
    done = inside("certify", "softmin", "-m", 8, "--out", tmp_path)
    assert done.exit_code == 0
    assert "3 files: 3 verified" in verified(tmp_path)


def test_certify_symmetric_refuted(tmp_path):
    """Degree 2 at a query of weight 10."""
    done = inside("certify", "symmetric", "-m", "10", "--set", "K=2", "--out", tmp_path)
    assert done.exit_code == 1
    assert "x = 1111111111 <x,x> = 10" in printed(done)
    verified(tmp_path)


@pytest.mark.parametrize(("verb", "status"), [("refute", 0), ("certify", 1)])
def test_kernel_values_beyond_all_floats(tmp_path, verb, status):
    """Up to 10^600: floats decide nothing, exact numbers do."""
    settings = ("--set", f"lam={10**39}", "--set", "K=16", "--set", "cutoff=4", "--set", "w=9/10")
    done = inside(verb, "symmetric", "-m", "8" if verb == "certify" else "20", *settings, "--out", tmp_path)
    assert done.exit_code == status, done.output
    assert "is refuted against" in done.stdout or "no readout of this kernel" in done.stdout
    verified(tmp_path)
    steep = inside("refute", "symmetric", "-m", "20", "--set", f"lam={10**39}", "--set", "K=20", "--budget", "2000")
    assert steep.exit_code in (0, 3), steep.output


def test_certify_as_json_by_the_real_command(tmp_path):
    done = outside("certify", "elu1", "-m", "8", "-r", "4", "--json", "--out", tmp_path)
    assert done.returncode == 1
    result = json.loads(done.stdout)
    assert (result["outcome"], result["status"]) == ("kernel refuted", 1)
    assert Path(result["file"]).exists()


def test_certify_signed(tmp_path):
    done = inside("certify", "fourier", "-m", "6", "-r", "4", "--out", tmp_path)
    assert done.exit_code in (1, 3)
    done = inside("certify", "fourier", "-m", "8", "-r", "4", "--out", tmp_path)
    assert "outside the theorems (signed)" in done.stdout or "no readout" in done.stdout


# ------------------------------------------------------------------------------------------ files


@pytest.mark.parametrize("suffix", [".json", ".npz", ".safetensors"])
def test_file_specs(folder, suffix):
    files.save(builtin.build("one-hot", 4, 16), folder / f"good{suffix}")
    done = inside("certify", f"good{suffix}", "-m", "4")
    assert done.exit_code == 0, done.output
    assert "its own readout is correct" in done.stdout
    files.save(builtin.build("relu", 6, 12), folder / f"poor{suffix}")
    for verb, status in (("refute", 0), ("certify", 1)):
        done = inside(verb, folder / f"poor{suffix}", "-m", "6")
        assert done.exit_code == status, done.output
    verified(folder / "found")


def test_malformed_files_are_status_4(folder):
    (folder / "bad.json").write_text("{}")
    (folder / "bad.npz").write_bytes(b"PK nonsense")
    (folder / "bad.safetensors").write_bytes(b"\x00" * 4)
    for name in ("bad.json", "bad.npz", "bad.safetensors"):
        done = inside("refute", name, "-m", "4")
        assert done.exit_code == 4, done.output
        assert done.stderr.startswith(f"proofcheck: {name}")
        assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("verb", ["refute", "certify"])
def test_alpha_that_is_zero(folder, verb):
    """Keys that vanish at one token, as ELU+1 in bfloat16 does: condition (i)."""
    keys = np.ones((16, 2))
    keys[5] = 0
    np.savez(folder / "zero.npz", queries=np.ones((16, 2)), keys=keys)
    done = inside(verb, "zero.npz", "-m", "4")
    assert done.exit_code == (0 if verb == "refute" else 1), done.output
    verified(folder / "found")


def test_condition_i_in_words(folder):
    """A correct kernel but for one value: y at (x, y) is 0."""
    features = builtin.build("one-hot", 3, 8)
    queries, keys = features.features("queries", range(8)), features.features("keys", range(8))
    keys[0, 7] = 0
    np.savez(folder / "zero.npz", queries=queries, keys=keys)
    done = inside("certify", "zero.npz", "-m", "3")
    assert done.exit_code == 1
    assert "alpha(x,y) = 0: y does not show in the output at x, and yet it makes the target 0 instead of 3" in printed(
        done
    )
    verified(folder / "found")


def test_a_certificate_is_no_spec(refuted):
    (path,) = refuted[1].glob("*.json")
    done = inside("refute", path, "-m", "24")
    assert done.exit_code == 4
    assert len(done.stderr.strip().splitlines()) == 1


# ------------------------------------------------------------------------------------------ heads


def test_heads_lists_what_is_known():
    done = outside("heads")
    assert done.returncode == 0
    for name in builtin.KERNELS:
        assert f" {name} " in done.stdout
    kernels = json.loads(inside("heads", "--json").stdout)
    assert [kernel["name"] for kernel in kernels] == list(builtin.KERNELS)
    (softmin,) = [kernel for kernel in kernels if kernel["name"] == "softmin"]
    assert set(softmin["parameters"]) == {"w", "tau"}
    assert "Theorem 1" in softmin["remarks"]


# ------------------------------------------------------------------------------------------ values that are given


def test_the_best_readout_of_given_values(tmp_path):
    done = inside("certify", "softmin", "-m", 3, "--set", "w=1/2", "--values", "overlap", "--out", tmp_path, "--json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["outcome"], found["values"]) == (0, "exhaustive-head", "overlap")
    assert float(found["least_error"]) < 0.5
    assert inside("verify", tmp_path).exit_code == 0


def test_values_without_a_readout(tmp_path):
    arguments = ("certify", "softmin", "-m", 4, "--set", "w=7/10", "--values", "linear", "--out", tmp_path)
    done = inside(*arguments)
    assert done.exit_code == 1
    assert "some readout is correct, and none that is affine in v(z) = z" in done.stdout
    assert "(x, 2 times 0000): target 0, the output must be above 0 - 1/2" in done.stdout
    assert any(path.name.startswith("readout-refutation-softmin") for path in tmp_path.iterdir())
    assert inside("verify", tmp_path).exit_code == 0
    found = json.loads(inside(*arguments, "--json").stdout)
    assert (found["outcome"], found["query"], found["status"]) == ("no readout of these values", "f", 1)
    assert len(found["inputs"]) == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("softmin", "--values", "cubic"), "expected linear, overlap, own, got 'cubic'"),
        (("softmin", "--values", "own", "--kernel"), "give one of them"),
        (("elu1", "--values", "own"), "has no values of its own"),
    ],
)
def test_values_that_cannot_be_asked_for(tmp_path, arguments, message):
    done = inside("certify", *arguments, "-m", 2, "--out", tmp_path)
    assert done.exit_code == 2
    assert message in done.stderr
    assert not list(tmp_path.iterdir())
