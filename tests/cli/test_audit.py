"""proofcheck audit: the table, what an interrupted run leaves, pictures, processes."""

from __future__ import annotations

import json

import pytest

from proofcheck.kernel.check import check_files

from .running import inside, outside

GRID = ("audit", "--kernels", "elu1,favor,symmetric,cosformer,fourier", "-m", "4:8:4", "-r", "2,16")
CELLS = "audit/cells-n3-eps1over2-seed0.jsonl"


def timeless(cells):
    return [{key: value for key, value in cell.items() if key not in ("seconds", "file")} for cell in cells]


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    out = tmp_path_factory.mktemp("audit")
    return outside(*GRID, "--json", "--out", out), out


def test_cells(audited):
    done, out = audited
    assert done.returncode == 3, done.stderr
    result = json.loads(done.stdout)
    assert (result["n"], result["eps"], result["seed"], result["status"]) == (3, "1/2", 0, 3)
    cells = {(cell["kernel"], cell["m"], cell["r"]): cell for cell in result["cells"]}
    assert len(cells) == 20
    assert {cell["outcome"] for key, cell in cells.items() if key[0] == "cosformer"} == {"outside"}
    assert cells["cosformer", 4, 2]["reason"] == "position-dependent"
    reasons = {cell["reason"] for key, cell in cells.items() if key[0] == "fourier" and cell["outcome"] == "outside"}
    assert reasons <= {"signed"}
    assert {cells["elu1", 8, r]["outcome"] for r in (2, 16)} == {"refuted"}
    assert cells["symmetric", 4, 16]["outcome"] == "certified"
    assert cells["symmetric", 8, 16]["outcome"] == "refuted"
    paths = [cell["file"] for cell in cells.values() if "file" in cell]
    reports = check_files([*paths, *map(str, (out / "audit" / "domination").iterdir())])
    assert {report.status for report in reports} == {0}
    identifiers = {report.certificate.id for report in reports}
    assert {cell["certificate"] for cell in cells.values() if "certificate" in cell} <= identifiers


def test_two_processes_find_the_same(audited, tmp_path):
    done, out = audited
    again = outside(*GRID, "--json", "--jobs", "2", "--out", tmp_path)
    assert again.returncode == 3
    assert timeless(json.loads(again.stdout)["cells"]) == timeless(json.loads(done.stdout)["cells"])
    written = {path.name for path in (out / "audit").glob("*.json")}
    assert {path.name for path in (tmp_path / "audit").glob("*.json")} == written
    for name in written:
        assert (tmp_path / "audit" / name).read_bytes() == (out / "audit" / name).read_bytes()


def test_a_table_from_what_was_kept(audited, monkeypatch):
    """Nothing is computed again."""
    from proofcheck.cli import audit

    monkeypatch.setattr(audit, "_cell", lambda task: pytest.fail(f"computed again: {task}"))
    done = inside(*GRID, "--out", audited[1])
    assert done.exit_code == 3
    assert "Kernels at n = 3, error < 1/2, seed 0" in done.stdout
    kept = [json.loads(line) for line in (audited[1] / CELLS).read_text().splitlines()]
    counts = {outcome: sum(cell["outcome"] == outcome for cell in kept) for outcome in ("refuted", "outside")}
    assert f"{counts['refuted']} refuted, " in done.stdout
    assert f" {counts['outside']} outside; certificates in " in done.stdout
    for cell in kept:
        assert cell.get("certificate", "")[:12] in done.stdout


def test_interrupted_and_resumed(audited, tmp_path, monkeypatch):
    from proofcheck.cli import audit

    real, computed = audit._cell, []

    def interrupted(task):
        if len(computed) == 7:
            raise KeyboardInterrupt
        computed.append(task[:3])
        return real(task)

    monkeypatch.setattr(audit, "_cell", interrupted)
    done = inside(*GRID, "--out", tmp_path)
    assert done.exit_code == 130
    assert "what was written so far is complete" in done.stderr
    assert len((tmp_path / CELLS).read_text().splitlines()) == 7
    monkeypatch.setattr(audit, "_cell", lambda task: computed.append(task[:3]) or real(task))
    done = inside(*GRID, "--json", "--out", tmp_path)
    assert len(computed) == len(set(computed)) == 20
    assert timeless(json.loads(done.stdout)["cells"]) == timeless(json.loads(audited[0].stdout)["cells"])


@pytest.mark.parametrize("damage", ["{", "[1, 2]", "{}", '{"kernel": "elu1", "m": "x", "r": 1}', "null", "\xff"])
def test_a_damaged_store_is_named(tmp_path, damage):
    store = tmp_path / CELLS
    store.parent.mkdir(parents=True)
    good = {"kernel": "elu1", "m": 8, "r": 2, "outcome": "refuted", "seconds": 1.0}
    store.write_bytes(f"{json.dumps(good)}\n{damage}\n".encode("latin-1"))
    before = store.read_bytes()
    done = inside("audit", "--kernels", "elu1", "-m", "8", "-r", "2", "--out", tmp_path)
    assert done.exit_code == 4
    assert f"{store}: line 2 is not a cell" in done.stderr
    assert store.read_bytes() == before


def test_a_store_with_an_unknown_outcome(tmp_path):
    store = tmp_path / CELLS
    store.parent.mkdir(parents=True)
    store.write_text(json.dumps({"kernel": "elu1", "m": 8, "r": 2, "outcome": "fine", "seconds": 1.0}))
    done = inside("audit", "--kernels", "elu1", "-m", "8", "-r", "2", "--out", tmp_path)
    assert done.exit_code == 4
    assert "line 1 is not a cell" in done.stderr


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_plot(audited, tmp_path, suffix):
    pytest.importorskip("matplotlib")
    path = tmp_path / "new" / f"map{suffix}"
    done = inside(*GRID, "--plot", path, "--out", audited[1])
    assert done.exit_code == 3
    assert f"drawn: {path}" in done.stderr
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG" if suffix == ".png" else b"<?xml")
    if suffix == ".svg":
        assert all(name.encode() in content for name in ("elu1", "symmetric", "refuted", "none found"))
        inside(*GRID, "--plot", path, "--out", audited[1])
        assert path.read_bytes() == content


BAD = [
    (("--kernels", "elu7"), "did you mean relu or elu1"),
    (("--kernels", "elu1,"), "'': expected a file named .json"),
    (("--kernels", "no_such_package:x"), "ModuleNotFoundError"),
    (("-m", "8:4"), "-m: expected integers A, ranges A:B"),
    (("-m", "8:1001"), "within 1..1000"),
    (("-m", "8:16:0"), "-m: expected"),
    (("-r", "0"), "-r: expected"),
    (("-n", "2"), "-n: B0 is about n >= 3 tokens, got 2"),
    (("--eps", "0.3"), "--eps: expected 0 < eps <= 1/2"),
    (("--plot", "map.gif"), "--plot: expected a file named .png or .svg, got map.gif"),
]


@pytest.mark.parametrize(("arguments", "reason"), BAD)
def test_usage(tmp_path, arguments, reason):
    chosen = {"--kernels": "elu1", "-m": "4", "-r": "2", "--out": tmp_path} | dict([arguments])
    done = inside("audit", *(part for pair in chosen.items() for part in pair))
    assert done.exit_code == 2
    assert reason in " ".join(done.stderr.split())
    assert len(done.stderr.strip().splitlines()) == 1


def test_files_and_own_code_are_computed_anew(tmp_path, monkeypatch):
    """What a name stands for may have changed; one that is usable at some sizes only says so in its cells."""
    from proofcheck.heads import builtin, files

    monkeypatch.chdir(tmp_path)
    arguments = ("audit", "--kernels", "mine.npz", "-m", "4,5", "-r", "1", "--json", "--out", "found")
    outcomes = []
    for name in ("elu1", "one-hot"):
        files.save(builtin.build(name, 4, 6), tmp_path / "mine.npz")
        first, second = json.loads(inside(*arguments).stdout)["cells"]
        outcomes.append(first["outcome"])
        assert second["outcome"] == "outside"
        assert "m = 4" in second["reason"]
    assert outcomes == ["refuted", "certified"]


def test_a_head_that_cannot_be_evaluated_is_one_cell(tmp_path):
    """The other cells are computed all the same."""
    arguments = ("audit", "--kernels", "one-hot,constant", "-m", "8,13", "-r", "4", "--json", "--out", tmp_path)
    cells = {(cell["kernel"], cell["m"]): cell for cell in json.loads(inside(*arguments).stdout)["cells"]}
    assert cells["one-hot", 13]["outcome"] == "outside"
    assert "expected m <= 12" in cells["one-hot", 13]["reason"]
    assert cells["constant", 13]["outcome"] == "refuted"
