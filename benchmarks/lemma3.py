"""Producing against checking, start-up, and the symbolic proof by both solvers."""

from __future__ import annotations

import tempfile
from fractions import Fraction
from itertools import islice
from pathlib import Path

from proofcheck.kernel.check import Certificate, check
from proofcheck.kernel.claims import statement
from proofcheck.solvers import cvc5_solver, dual, z3_solver
from proofcheck.solvers.query import Query, negation
from proofcheck.theorems.lemma3 import grid, prove, prove_symbolic

from .timing import process_seconds, seconds

INSTANCES = 1000


def run() -> None:
    instances = list(islice(grid(range(3, 13), 40, [Fraction(1, k) for k in (2, 3, 4, 10)]), INSTANCES))
    kinds: dict[str, list[bytes]] = {"gap-domination": [], "gap-tightness": []}

    def produce() -> None:
        for instance in instances:
            for outcome in prove(instance):
                kinds[outcome.certificate.claim].append(outcome.certificate.data)

    producing = seconds(produce)
    files = [data for certificates in kinds.values() for data in certificates]
    checking = seconds(lambda: [check(Certificate(data)) for data in files])
    print(f"{len(instances)} instances, {len(files)} certificates (domination and tightness, n = 3.., d <= 40)")
    print(f"produced: {len(files) / producing:8.0f} per second (Z3 queries, multipliers, model, replay)")
    print(f"checked:  {len(files) / checking:8.0f} per second (kernel alone, one process)")
    print(f"checking is {producing / checking:.1f} times faster than producing")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.json"
        path.write_bytes(files[0])
        bare_s, kernel, bare, help_, verify = process_seconds(
            ["-S", "-c", "pass"],
            ["-S", "-m", "proofcheck.kernel", str(path)],
            ["-c", "pass"],
            ["-m", "proofcheck", "--help"],
            ["-m", "proofcheck", "verify", str(path)],
        )
    print(f"start-up: kernel on one certificate / python -S -c pass  {kernel / bare_s:.2f}")
    print(f"          kernel on one certificate / python -c pass     {kernel / bare:.2f}")
    print(f"          proofcheck --help / python -c pass             {help_ / bare:.2f}")
    print(f"          proofcheck verify FILE / python -c pass        {verify / bare:.2f}")

    claim = statement("gap-domination-symbolic", {})
    raw = negation("symbolic", claim)
    rows = raw.rows
    others = [row for row in rows if row not in {"n", "eps", "eps-max", "gap"}]
    candidates = [c for row in others for c in [(row,), ("n", row), ("gap", row)]]
    products = Query("products", dual.product_rows(rows, candidates), "unsat").linearised()
    z3_raw = seconds(lambda: z3_solver.solve(raw, 60), 5)
    z3_products = seconds(lambda: z3_solver.solve(products, 60), 5)
    cvc5_products = seconds(lambda: cvc5_solver.solve(products, 60), 5)
    whole = seconds(prove_symbolic, 3)
    check_it = Certificate(prove_symbolic().certificate.data)
    checked = seconds(lambda: check(check_it), 5)
    print(f"symbolic theorem: Z3 raw bilinear {1000 * z3_raw:.1f} ms (baseline 1)")
    print(f"  Z3 with products, linear    {z3_products / z3_raw:.2f}")
    print(f"  cvc5 with products, linear  {cvc5_products / z3_raw:.2f}   (cvc5 answers 'unknown' to the raw query)")
    print(f"  whole production            {whole / z3_raw:.2f}")
    print(f"  kernel check                {checked / z3_raw:.3f}")
