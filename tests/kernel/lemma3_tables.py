# ruff: noqa: E501 - the tables hold one attack a line
"""Tables of Lemma 3 and of what all certificates share: bytes, keys, names, numbers, shapes.

The accepted certificates come from the mathematics (Lemma 3's hand proof and the readout of B0), not from a solver.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from tests.kernel.building import (
    DELETE,
    HALF,
    IDENTIFIER,
    Fields,
    certificate,
    changed,
    data,
    edited,
    renamed,
    spell,
    use,
)

# ------------------------------------------------------------------------------------- valid certificates


def head(n: int, d: Fraction, eps: Fraction, a: Fraction, b: Fraction, c: Fraction = Fraction(1)) -> Fields:
    """The readout of mathematics.md B0 for the kernel row (a, b, c), levels (d, 0, d), h = d, shifted by t."""
    slack = eps / (10**9 * n)
    return {
        "a": a,
        "b": b,
        "c": c,
        "p": d - eps + slack / a,
        "q": -eps + (slack - a * d / (n - 1)) / b,
        "s": d - eps + slack / c,
    }


def factor(n: int, d: Fraction, eps: Fraction) -> Fraction:
    return (n - 2) * (d - 2 * eps) / (2 * eps)


def tight_head(n: int, d: Fraction, eps: Fraction, delta: Fraction) -> Fields:
    """A tiny self weight and b half-way between mu c and (mu + delta) c."""
    return head(n, d, eps, eps * delta / (10**4 * d), factor(n, d, eps) + delta / 2)


def domination(n: int, d: Fraction, eps: Fraction) -> Fields:
    """The hand proof: L M.upper + Y.lower + K Z.lower + (Kd - 2 eps L) a + L (negated conclusion) = 0."""
    large, small = n - 1, n - 2
    multipliers = {
        "M.upper": Fraction(large),
        "Y.lower": Fraction(1),
        "Z.lower": Fraction(small),
        "a": small * d - 2 * eps * large,
        "negated-conclusion": Fraction(large),
    }
    return certificate(
        "gap-domination",
        {"n": n, "d": d, "eps": eps},
        "farkas",
        {
            "multipliers": {name: q for name, q in multipliers.items() if q},
            "model": tight_head(n, d, eps, Fraction(1)),
        },
    )


def symbolic() -> Fields:
    """The hand proof with L = (n-3) + 2, K = (n-3) + 1 and Kd - 2 eps L the gap condition."""
    terms = [
        (1, ["n", "M.upper"]),
        (2, ["M.upper"]),
        (1, ["Y.lower"]),
        (1, ["n", "Z.lower"]),
        (1, ["Z.lower"]),
        (1, ["gap", "a"]),
        (1, ["n", "negated-conclusion"]),
        (2, ["negated-conclusion"]),
    ]
    point = {"n": 3, "d": Fraction(2), "eps": HALF, **tight_head(3, Fraction(2), HALF, Fraction(1))}
    return certificate(
        "gap-domination-symbolic",
        {},
        "polynomial-identity",
        {"terms": [{"coefficient": q, "product": names} for q, names in terms], "model": point},
    )


def tightness(n: int, d: Fraction, eps: Fraction, delta: Fraction, inputs: str) -> Fields:
    return certificate(
        "gap-tightness",
        {"n": n, "d": d, "eps": eps, "delta": delta, "inputs": inputs},
        "model",
        {"assignment": tight_head(n, d, eps, delta)},
    )


def countermodel(n: int, d: Fraction, eps: Fraction, bound: Fraction, inputs: str, row: tuple[Fraction, ...]) -> Fields:
    return certificate(
        "gap-countermodel",
        {"n": n, "d": d, "eps": eps, "factor": bound, "inputs": inputs},
        "model",
        {"assignment": head(n, d, eps, *row)},
    )


def valid() -> dict[str, Fields]:
    """Certificates that hold, by name; every attack below is a change of one of them."""
    f = Fraction
    domination_by_identity = domination(3, f(3), HALF)
    multipliers = domination_by_identity["witness"]["multipliers"]
    domination_by_identity["rule"] = "polynomial-identity"
    domination_by_identity["witness"] = {
        "terms": [{"coefficient": q, "product": [name]} for name, q in multipliers.items()],
        "model": domination_by_identity["witness"]["model"],
    }
    repeated_terms = symbolic()
    repeated_terms["witness"]["terms"] = [
        {"coefficient": "1/2", "product": list(reversed(term["product"]))}
        for term in repeated_terms["witness"]["terms"]
        for _ in range(2 * term["coefficient"])
    ]
    return {
        "domination-n3-d2-eps1over2-least-gap": domination(3, f(2), HALF),
        "domination-n3-d3-eps1over2": domination(3, f(3), HALF),
        "domination-n7-d5over2-eps2over7": domination(7, f(5, 2), f(2, 7)),
        "domination-n4-d3over2-eps1over2-least-gap": domination(4, f(3, 2), HALF),
        "domination-huge-n": domination(10**40, f(7), f(1, 10**9)),
        "domination-by-polynomial-identity": domination_by_identity,
        "symbolic": symbolic(),
        "symbolic-repeated-terms-and-swapped-factors": repeated_terms,
        "tightness-xyz-n3-d2": tightness(3, f(2), HALF, f(1, 100), "xyz"),
        "tightness-xyz-n5-d3-eps1over4": tightness(5, f(3), f(1, 4), f(1, 7), "xyz"),
        "tightness-yzm-n30": tightness(30, f(2), f(1, 3), f(1, 100), "YZM"),
        "countermodel-xyz-n3-d1": countermodel(3, f(1), HALF, f(1, 1000), "xyz", (f(1), f(1, 1001), f(1))),
        "countermodel-xyz-n3-d3over2": countermodel(3, f(3, 2), HALF, f(3, 10), "xyz", (f(1), f(28, 100), f(1))),
        "countermodel-yzm-n3-d3over2": countermodel(3, f(3, 2), HALF, f(3, 10), "YZM", (f(4), f(1, 10), f(1))),
        "countermodel-yzm-n30-d1over2": countermodel(30, f(1, 2), HALF, f(1, 9), "YZM", (f(10), f(1, 10), f(1))),
    }


# --------------------------------------------------------------------------------------------- the tables


def accepted() -> dict[str, bytes]:
    files = {name: data(fields) for name, fields in valid().items()}
    instance = valid()["domination-n3-d3-eps1over2"]
    files["keys-in-another-order-and-spaces"] = (
        b" \r\n\t" + json.dumps(dict(reversed(instance.items())), indent=7).encode()
    )
    files["escaped-ascii-spelling"] = edited(instance, '"claim":"gap', '"\\u0063laim":"\\u0067ap')
    files["producer-empty"] = data(changed(instance, ("producer", {})))
    files["producer-says-anything"] = data(
        changed(instance, ("producer", {"claim": "false", "seed": -1, "list": [[], {}, "0.5"], "verified": 1}))
    )
    return files


def rejected() -> dict[str, tuple[bytes, str]]:
    all_valid = valid()
    instance = all_valid["domination-n3-d3-eps1over2"]
    least = all_valid["domination-n3-d2-eps1over2-least-gap"]
    proof = all_valid["symbolic"]
    tight = all_valid["tightness-xyz-n3-d2"]
    counter = all_valid["countermodel-xyz-n3-d1"]
    m = "witness/multipliers"
    no_cancel = r"^the sum does not cancel: "
    unknown = r"the claim has no condition named "
    positive = r"the multiplier of an inequality must be positive, got "
    table: dict[str, tuple[Fields, str]] = {
        # claims
        "claim-other-n": (changed(instance, ("parameters/n", 4)), no_cancel),
        "claim-other-d": (changed(instance, ("parameters/d", 4)), no_cancel),
        "claim-other-eps": (changed(instance, ("parameters/eps", "1/3")), no_cancel),
        "claim-instance-sold-as-theorem": (
            changed(instance, ("claim", "gap-domination-symbolic"), ("parameters", {})),
            no_cancel,
        ),
        "claim-theorem-proof-for-an-instance": (
            changed(proof, ("claim", "gap-domination"), ("parameters", {"n": 3, "d": 2, "eps": "1/2"})),
            r"^witness\.terms\[0\]: the claim has no condition named 'n'$",
        ),
        "claim-tightness-swapped-for-countermodel": (
            changed(counter, ("claim", "gap-tightness"), ("parameters/d", 2), ("parameters/factor", DELETE), ("parameters/delta", 1)),
            r"^witness\.assignment: the condition \S+, .*, fails at this point$",
        ),
        "claim-universal-shown-by-one-point": (
            changed(instance, ("rule", "model"), ("witness", {"assignment": instance["witness"]["model"]})),
            r"^rule model shows an? Existential statement, and this claim is of the shape Universal$",
        ),
        "claim-existential-shown-by-multipliers": (
            changed(tight, ("rule", "farkas"), ("witness", {"multipliers": {"a": 1}, "model": tight["witness"]["assignment"]})),
            r"^rule farkas shows an? Universal statement, and this claim is of the shape Existential$",
        ),
        "claim-existential-shown-by-identity": (
            changed(tight, ("rule", "polynomial-identity"), ("witness", {"terms": [], "model": {}})),
            r"^rule polynomial-identity shows an? Universal statement, and this claim is of the shape Existential$",
        ),
        # farkas
        "farkas-negative-multiplier": (
            changed(instance, (f"{m}/M.upper", -2)),
            r"^witness\.multipliers\.M\.upper: " + positive + "-2$",
        ),
        "farkas-negative-fraction": (
            changed(instance, (f"{m}/a", "-1/2")),
            r"^witness\.multipliers\.a: " + positive + "'-1/2'$",
        ),
        "farkas-two-signs-flipped": (
            changed(instance, (f"{m}/M.upper", DELETE), (f"{m}/M.lower", -2)),
            r"^witness\.multipliers\.M\.lower: " + positive + "-2$",
        ),
        "farkas-zero-multiplier": (changed(least, (f"{m}/a", 0)), r"^witness\.multipliers\.a: " + positive + "0$"),
        "farkas-all-zero": (
            changed(instance, (m, dict.fromkeys(instance["witness"]["multipliers"], 0))),
            positive + "0$",
        ),
        "farkas-no-multiplier": (changed(instance, (m, {})), r"^the sum is 0 >= 0: no strict condition takes part"),
        "farkas-missing-multiplier": (changed(instance, (f"{m}/Y.lower", DELETE)), no_cancel),
        "farkas-missing-negated-conclusion": (changed(instance, (f"{m}/negated-conclusion", DELETE)), no_cancel),
        "farkas-conclusion-assumed": (renamed(instance, f"{m}/negated-conclusion", "conclusion"), unknown + "'conclusion'$"),
        "farkas-upper-for-lower": (renamed(instance, f"{m}/Y.lower", "Y.upper"), no_cancel),
        "farkas-row-index": (renamed(instance, f"{m}/Y.lower", "0"), unknown + "'0'$"),
        "farkas-row-minus-one": (renamed(instance, f"{m}/Y.lower", "-1"), unknown + "'-1'$"),
        "farkas-row-of-other-case": (renamed(instance, f"{m}/Y.lower", "y.lower"), unknown + "'y.lower'$"),
        "farkas-row-with-space": (renamed(instance, f"{m}/Y.lower", "Y.lower "), unknown + r"'Y\.lower '$"),
        "farkas-row-of-the-symbolic-claim": (changed(instance, (f"{m}/gap", 1)), unknown + "'gap'$"),
        "farkas-row-of-existential-claim": (changed(instance, (f"{m}/c.positive", 1)), unknown + r"'c\.positive'$"),
        "farkas-extra-row": (changed(instance, (f"{m}/Y.denominator", "1/1000000")), no_cancel),
        "farkas-almost-cancels": (
            changed(instance, (f"{m}/M.upper", f"{2 * 10**400 + 1}/{10**400}")),
            no_cancel,
        ),
        "farkas-scaled-all-but-one": (
            changed(instance, (f"{m}/M.upper", 4), (f"{m}/Y.lower", 2), (f"{m}/Z.lower", 2), (f"{m}/negated-conclusion", 4)),
            no_cancel,
        ),
        # vacuity: the model of the hypotheses
        "model-of-hypotheses-all-zero": (
            changed(instance, ("witness/model", dict.fromkeys("abcpqs", 0))),
            r"^witness\.model: the condition \S+\.denominator, .*, fails",
        ),
        "model-of-hypotheses-negative-kernel": (
            changed(instance, ("witness/model/a", -1)),
            r"^witness\.model: the condition a, .*, fails at this point$",
        ),
        "model-of-hypotheses-violates-conclusion": (
            changed(instance, ("witness/model/b", 1)),
            r"^witness\.model: the condition \S+\.(upper|lower), .*, fails at this point$",
        ),
        "model-of-hypotheses-eps-zero": (
            changed(proof, ("witness/model/eps", 0)),
            r"^witness\.model: the condition eps, .*, fails at this point$",
        ),
        "model-of-hypotheses-eps-above-half": (
            changed(proof, ("witness/model/eps", "51/100"), ("witness/model/d", 20)),
            r"^witness\.model: the condition eps-max, .*, fails at this point$",
        ),
        "model-of-hypotheses-n-two": (
            changed(proof, ("witness/model/n", 2)),
            r"^witness\.model: the condition n, .*, fails at this point$",
        ),
        "model-of-hypotheses-gap-too-small": (
            changed(proof, ("witness/model/d", "199/100")),
            r"^witness\.model: the condition gap, .*, fails at this point$",
        ),
        # polynomial identities
        "identity-no-terms": (changed(proof, ("witness/terms", [])), r"^the sum is 0 >= 0: no strict condition takes part"),
        "identity-constant-alone": (
            changed(proof, ("witness/terms", [{"coefficient": 5, "product": []}])),
            r"^the sum is the positive constant '5': no contradiction$",
        ),
        "identity-extra-constant": (
            changed(proof, ("witness/terms", [*proof["witness"]["terms"], {"coefficient": "1/9", "product": []}])),
            r"^the sum is the positive constant '1/9': no contradiction$",
        ),
        "identity-negative-constant": (
            changed(proof, ("witness/terms", [{"coefficient": -5, "product": []}])),
            r"^witness\.terms\[0\]: " + positive + "-5$",
        ),
        "identity-two-negatives": (
            changed(proof, ("witness/terms/0/coefficient", -1), ("witness/terms/6/coefficient", -1)),
            r"^witness\.terms\[0\]: " + positive + "-1$",
        ),
        "identity-missing-case": (
            changed(proof, ("witness/terms", proof["witness"]["terms"][:-1])),
            no_cancel,
        ),
        "identity-term-twice": (
            changed(proof, ("witness/terms", [*proof["witness"]["terms"], proof["witness"]["terms"][2]])),
            no_cancel,
        ),
        "identity-factor-squared": (changed(proof, ("witness/terms/0/product", ["n", "n", "M.upper"])), no_cancel),
        "identity-product-of-strict-and-weak-is-not-strict": (
            changed(
                instance,
                ("rule", "polynomial-identity"),
                ("witness/multipliers", DELETE),
                # b * D >= 0 and b >= 0 are no contradiction however they are added
                ("witness/terms", [{"coefficient": 1, "product": ["b", "Y.denominator"]}]),
            ),
            no_cancel,
        ),
        "identity-variable-as-condition": (changed(proof, ("witness/terms/0/product", ["d", "M.upper"])), unknown + "'d'$"),
        # models
        "model-equality-for-strict": (
            changed(tight, ("parameters/delta", "1/200")),
            r"^witness\.assignment: the condition near-factor, .* > 0., fails at this point$",
        ),
        "model-smaller-delta": (
            changed(tight, ("parameters/delta", "1/1000")),
            r"^witness\.assignment: the condition near-factor, .*, fails at this point$",
        ),
        "model-smaller-factor": (
            changed(counter, ("parameters/factor", "1/1002")),
            r"^witness\.assignment: the condition at-most-factor, .*, fails at this point$",
        ),
        "model-correct-on-three-inputs-only": (
            changed(all_valid["countermodel-yzm-n3-d3over2"], ("parameters/inputs", "xyz")),
            r"^witness\.assignment: the condition x\d+y\d+z\d+\.(lower|upper), .*, fails at this point$",
        ),
        "model-other-eps": (
            changed(counter, ("parameters/eps", "2/5"), ("parameters/d", 1)),
            r"^witness\.assignment: the condition \S+, .*, fails at this point$",
        ),
        "model-c-zero": (
            changed(counter, ("witness/assignment/c", 0)),
            r"^witness\.assignment: the condition \S+, .*, fails at this point$",
        ),
        "model-negative-kernel": (
            changed(counter, ("witness/assignment/b", "-1/1001")),
            r"^witness\.assignment: the condition b, .*, fails at this point$",
        ),
        "model-all-zero": (
            changed(counter, ("witness/assignment", dict.fromkeys("abcpqs", 0))),
            r"^witness\.assignment: the condition \S+\.denominator, .*, fails",
        ),
        "model-values-swapped": (
            changed(tight, ("witness/assignment/q", tight["witness"]["assignment"]["s"]), ("witness/assignment/s", tight["witness"]["assignment"]["q"])),
            r"^witness\.assignment: the condition \S+\.(lower|upper), .*, fails at this point$",
        ),
        # process
        "uses-one-that-is-not-needed": (
            changed(instance, ("uses", [use(proof)])),
            r"^uses: this claim rests on no other certificate; listed: gap-domination-symbolic$",
        ),
        "uses-an-unknown-claim": (
            changed(tight, ("uses", [{"claim": "lemma-3", "id": IDENTIFIER, "parameters": {}}])),
            r"^uses: this claim rests on no other certificate; listed: lemma-3$",
        ),
        "uses-itself-by-name": (
            changed(instance, ("uses", [{**use(instance), "id": IDENTIFIER}])),
            r"^uses: this claim rests on no other certificate; listed: gap-domination$",
        ),
    }  # fmt: skip
    return {name: (data(fields), reason) for name, (fields, reason) in table.items()}


def malformed() -> dict[str, tuple[bytes, str]]:
    all_valid = valid()
    instance = all_valid["domination-n3-d3-eps1over2"]
    proof = all_valid["symbolic"]
    tight = all_valid["tightness-xyz-n3-d2"]
    wide = tightness(24, Fraction(2), HALF, Fraction(1), "xyz")
    counter = all_valid["countermodel-xyz-n3-d1"]
    text = data(instance)
    m = "witness/multipliers"
    y = r"^witness\.multipliers\.Y\.lower: "
    spelling = y + r'expected an integer or a string "p/q" in lowest terms, got '
    lowest = y + r".* is not in lowest terms with a denominator >= 2$"
    inexact = r"^the number '.*' is not exact: write an integer or a string \"p/q\" in lowest terms$"

    def number(value: Any) -> bytes:
        return data(changed(instance, (f"{m}/Y.lower", value)))

    def used(change: tuple[str, Any]) -> bytes:
        return data(changed(instance, ("uses", [changed(use(proof), change)])))

    def raw(value: str | bytes) -> bytes:
        return edited(instance, '"Y.lower":1', b'"Y.lower":' + (value if isinstance(value, bytes) else value.encode()))

    return {
        # the bytes
        "empty": (b"", r"^the file is empty$"),
        "blank": (b" \n\t\n", r"^the file is empty$"),
        "truncated-half": (text[: len(text) // 2], r"^not JSON at character \d+: "),
        "truncated-last-brace": (text.rstrip()[:-1], r"^not JSON at character \d+: "),
        "trailing-garbage": (text + b"x", r"^not JSON at character \d+: Extra data$"),
        "trailing-second-certificate": (text + text, r"^not JSON at character \d+: Extra data$"),
        "trailing-nul": (text + b"\0", r"^not JSON at character \d+: Extra data$"),
        "bom": (b"\xef\xbb\xbf" + text, r"^byte 0 is not ASCII$"),
        "utf-16": (text.decode().encode("utf-16"), r"^byte 0 is not ASCII$"),
        "utf-16-without-bom": (text.decode().encode("utf-16-le"), r"^not JSON at character "),
        "not-utf-8": (edited(instance, '"by":"tests', b'"by":"\xff\xfetests'), r"^byte \d+ is not ASCII$"),
        "latin-1": (edited(instance, '"by":"tests', b'"by":"\xe9tests'), r"^byte \d+ is not ASCII$"),
        "utf-8-letter": (edited(instance, '"by":"tests', '"by":"é'), r"^byte \d+ is not ASCII$"),
        "raw-newline-in-string": (edited(instance, '"by":"tests', '"by":"\ntests'), r"^not JSON at character \d+: Invalid control"),
        "comment": (b"// a comment\n" + text, r"^not JSON at character 0: "),
        "single-quotes": (text.replace(b'"', b"'"), r"^not JSON at character \d+: "),
        "python-none": (edited(instance, '"producer":{"by":"tests/kernel/make_tables.py"}', '"producer":None'), r"^not JSON at"),
        "not-an-object-list": (b"[" + text + b"]", r"^certificate: expected an object, got \["),
        "not-an-object-number": (b"7", r"^certificate: expected an object, got 7$"),
        "not-an-object-string": (b'"proofcheck/1"', r"^certificate: expected an object, got 'proofcheck/1'$"),
        "null": (b"null", r"^top: None is not a number, string, list or object$"),
        "nested-seventeen": (b"[" * 17 + b"]" * 17, r"^the file nests deeper than 16 levels$"),
        "nested-in-producer": (
            data(changed(instance, ("producer", {"deep": json.loads("[" * 20 + "]" * 20)}))),
            r"^the file nests deeper than 16 levels$",
        ),
        # keys
        "duplicate-key": (edited(instance, '"uses":[]', '"uses":[],"uses":[]'), r"^the key 'uses' occurs twice in one object$"),
        "duplicate-claim": (
            edited(instance, '"claim":', '"claim":"gap-domination-symbolic","claim":'),
            r"^the key 'claim' occurs twice in one object$",
        ),
        "duplicate-key-escaped": (
            edited(instance, '"uses":[]', '"uses":[],"\\u0075ses":[]'),
            r"^the key 'uses' occurs twice in one object$",
        ),
        "duplicate-multiplier": (
            edited(instance, '"Y.lower":1', '"Y.lower":7,"Y.lower":1'),
            r"^the key 'Y\.lower' occurs twice in one object$",
        ),
        "duplicate-in-producer": (
            edited(instance, '"producer":{', '"producer":{"by":"me",'),
            r"^the key 'by' occurs twice in one object$",
        ),
        "unknown-field": (data(changed(instance, ("statement", "0 < 1"))), r"^certificate: unknown field 'statement'$"),
        "unknown-field-id": (data(changed(instance, ("id", IDENTIFIER))), r"^certificate: unknown field 'id'$"),
        "unknown-parameter": (data(changed(instance, ("parameters/mu", 1))), r"^parameters: unknown field 'mu'$"),
        "unknown-parameter-symbolic": (data(changed(proof, ("parameters/n", 3))), r"^parameters: unknown field 'n'$"),
        "unknown-witness-field": (data(changed(instance, ("witness/note", "x"))), r"^witness: unknown field 'note'$"),
        "unknown-variable-in-model": (data(changed(instance, ("witness/model/t", 0))), r"^witness\.model: unknown field 't'$"),
        "unknown-term-field": (
            data(changed(proof, ("witness/terms/3/sign", -1))),
            r"^witness\.terms\[3\]: unknown field 'sign'$",
        ),
        "homoglyph-field": (edited(instance, '"claim":', '"сlaim":'), r"^byte \d+ is not ASCII$"),
        "homoglyph-field-escaped": (edited(instance, '"claim":', '"\\u0441laim":'), r"^a key of top: the string '\\u0441laim' is not printable ASCII$"),
        **{
            f"missing-{field}": (
                data(changed(instance, (field, DELETE))),
                rf"^certificate: the field '{field}' is missing$",
            )
            for field in ("format", "claim", "parameters", "rule", "witness", "uses", "producer")
        },
        "missing-parameter": (data(changed(instance, ("parameters/eps", DELETE))), r"^parameters: the field 'eps' is missing$"),
        "missing-model": (data(changed(instance, ("witness/model", DELETE))), r"^witness: the field 'model' is missing$"),
        "missing-variable-in-model": (
            data(changed(instance, ("witness/model/s", DELETE))),
            r"^witness\.model: the field 's' is missing$",
        ),
        "missing-variable-in-assignment": (
            data(changed(tight, ("witness/assignment/a", DELETE))),
            r"^witness\.assignment: the field 'a' is missing$",
        ),
        "missing-product": (
            data(changed(proof, ("witness/terms/0/product", DELETE))),
            r"^witness\.terms\[0\]: the field 'product' is missing$",
        ),
        # format, names
        "version-2": (data(changed(instance, ("format", "proofcheck/2"))), r"^format: expected 'proofcheck/1', got 'proofcheck/2'$"),
        "version-1.0": (data(changed(instance, ("format", "proofcheck/1.0"))), r"^format: expected 'proofcheck/1', got "),
        "version-number": (data(changed(instance, ("format", 1))), r"^format: expected 'proofcheck/1', got 1$"),
        "version-with-newline": (data(changed(instance, ("format", "proofcheck/1\n"))), r"^format: the string 'proofcheck/1\\n' is not printable"),
        "claim-unknown": (data(changed(instance, ("claim", "lemma-3"))), r"^claim: unknown claim 'lemma-3'$"),
        "claim-other-case": (data(changed(instance, ("claim", "Gap-Domination"))), r"^claim: unknown claim 'Gap-Domination'$"),
        "claim-trailing-space": (data(changed(instance, ("claim", "gap-domination "))), r"^claim: unknown claim 'gap-domination '$"),
        "claim-homoglyph": (
            data(changed(instance, ("claim", "g\u0430p-domination"))),
            r"^claim: the string 'g\\u0430p-domination' is not printable ASCII$",
        ),
        "claim-homoglyph-hyphen": (
            data(changed(instance, ("claim", "gap\u2010domination"))),
            r"^claim: the string 'gap\\u2010domination' is not printable ASCII$",
        ),
        "claim-dunder": (data(changed(instance, ("claim", "__class__"))), r"^claim: unknown claim '__class__'$"),
        "claim-list": (data(changed(instance, ("claim", ["gap-domination"]))), r"^claim: expected a string, got \["),
        "rule-unknown": (data(changed(instance, ("rule", "trust-me"))), r"^rule: unknown rule 'trust-me'$"),
        "rule-import-path": (data(changed(instance, ("rule", "os.system"))), r"^rule: unknown rule 'os\.system'$"),
        "rule-private-function": (data(changed(instance, ("rule", "_assignment"))), r"^rule: unknown rule '_assignment'$"),
        "rule-null": (data(changed(instance, ("rule", None))), r"^rule: None is not a number, string, list or object$"),
        "lone-surrogate": (edited(instance, '"by":"tests', '"by":"\\ud800'), r"^producer\.by: the string '\\ud800.* is not printable ASCII$"),
        "lone-surrogate-key": (edited(instance, '"by":', '"\\udfff":'), r"^a key of producer: the string '\\udfff' is not printable ASCII$"),
        "control-character": (edited(instance, '"by":"tests', '"by":"\\u001b[2J'), r"^producer\.by: the string '\\x1b\[2J.* is not printable"),
        "nul-in-string": (edited(instance, '"by":"tests', '"by":"\\u0000'), r"^producer\.by: the string '\\x00.* is not printable"),
        "right-to-left-override": (edited(instance, '"by":"tests', '"by":"\\u202e'), r"^producer\.by: the string '\\u202e.* is not printable"),
        # numbers
        "nan": (raw("NaN"), inexact),
        "infinity": (raw("Infinity"), inexact),
        "minus-infinity": (raw("-Infinity"), inexact),
        "float": (raw("1.0"), inexact),
        "float-tenth": (raw("0.1"), inexact),
        "float-1e400": (raw("1e400"), inexact),
        "float-1e0": (raw("1e0"), inexact),
        "float-exponent-bomb": (raw("1e5000000"), inexact),
        "float-in-producer": (edited(instance, '"producer":{', '"producer":{"seconds":0.1,'), inexact),
        "exponent-bomb-string": (number("1e5000000"), spelling + "'1e5000000'$"),
        "true-as-one": (raw("true"), y + "True is not a number, string, list or object$"),
        "false-as-zero": (data(changed(instance, ("witness/model/p", False))), r"^witness\.model\.p: False is not a number"),
        "true-as-parameter": (data(changed(instance, ("parameters/d", True))), r"^parameters\.d: True is not a number"),
        "null-multiplier": (raw("null"), y + "None is not a number"),
        "list-multiplier": (number([1]), y + r'expected an integer or a string "p/q", got \[1\]$'),
        "object-multiplier": (number({"p": 1, "q": 2}), y + r'expected an integer or a string "p/q", got \{'),
        "underscore": (number("1_0/3"), spelling + "'1_0/3'$"),
        "underscore-integer": (raw("1_0"), r"^not JSON at character \d+: "),
        "leading-space": (number(" 1/2"), spelling + "' 1/2'$"),
        "trailing-newline": (number("1/2\n"), y + r"the string '1/2\\n' is not printable ASCII$"),
        "space-and-newline": (number(" 1/2\n"), y + r"the string ' 1/2\\n' is not printable ASCII$"),
        "space-around-slash": (number("1 / 2"), spelling + "'1 / 2'$"),
        "integer-as-string": (number("1"), spelling + "'1'$"),
        "empty-string": (number(""), spelling + "''$"),
        "decimal-string": (number("0.5"), spelling + r"'0\.5'$"),
        "hexadecimal-string": (number("0x1/2"), spelling + "'0x1/2'$"),
        "infinity-string": (number("inf"), spelling + "'inf'$"),
        "two-slashes": (number("1/2/3"), spelling + "'1/2/3'$"),
        "no-numerator": (number("/2"), spelling + "'/2'$"),
        "no-denominator": (number("1/"), spelling + "'1/'$"),
        "plus-sign": (number("+1/2"), spelling + r"'\+1/2'$"),
        "double-minus": (number("--1/2"), spelling + "'--1/2'$"),
        "negative-denominator": (number("1/-2"), spelling + "'1/-2'$"),
        "leading-zero": (number("01/2"), spelling + "'01/2'$"),
        "leading-zero-denominator": (number("1/02"), spelling + "'1/02'$"),
        "leading-zero-integer": (raw("01"), r"^not JSON at character \d+: "),
        "plus-integer": (raw("+1"), r"^not JSON at character \d+: "),
        "minus-zero": (raw("-0"), r"^the number -0 is written 0$"),
        "minus-zero-string": (number("-0"), spelling + "'-0'$"),
        "zero-numerator": (number("0/2"), spelling + "'0/2'$"),
        "zero-denominator": (number("1/0"), spelling + "'1/0'$"),
        "zero-over-zero": (number("0/0"), spelling + "'0/0'$"),
        "zero-denominator-long": (number("1/00"), spelling + "'1/00'$"),
        "not-lowest-terms": (number("2/4"), lowest),
        "not-lowest-terms-negative": (number("-3/6"), lowest),
        "denominator-one": (number("3/1"), lowest),
        "arabic-indic-digits": (number("\u0661/\u0662"), y + r"the string '\\u0661/\\u0662' is not printable ASCII$"),
        "fullwidth-digits": (number("\uff11/\uff12"), y + r"the string '\\uff11/\\uff12' is not printable ASCII$"),
        "superscript-digit": (number("1/\u00b2"), y + r"the string '1/\\xb2' is not printable ASCII$"),
        "vulgar-fraction": (number("\u00bd"), y + r"the string '\\xbd' is not printable ASCII$"),
        "division-slash": (number("1\u22152"), y + r"the string '1\\u22152' is not printable ASCII$"),
        "unicode-minus": (number("\u22121/2"), y + r"the string '\\u22121/2' is not printable ASCII$"),
        "digits-4301": (raw("1" * 4301), r"^the number '1+\.\.\. has more than \d+ digits"),
        "digits-4301-in-string": (number("1" * 4301 + "/2"), y + r"a number has more than \d+ digits$"),
        "digits-4301-denominator": (number("1/" + "3" * 4301), y + r"a number has more than \d+ digits$"),
        "digits-1501": (raw("1" * 1501), r"has more than \d+ digits"),
        "digits-4301-parameter-n": (edited(instance, '"n":3', '"n":' + "9" * 4301), r"has more than \d+ digits"),
        "intermediate-sum-explodes": (
            data(changed(instance, (m, {
                name: f"{10**990 + 1}/{10**990 + prime}"
                for name, prime in zip(["Y.lower", "Y.upper", "M.upper", "M.lower", "Z.lower", "Z.upper"], [7, 9, 13, 19, 33, 3], strict=True)
            }))),
            r"^an intermediate result has more than \d+ bits$",
        ),
        "intermediate-product-explodes": (
            data(changed(wide, *(
                (f"witness/assignment/{v}", spell(Fraction(wide["witness"]["assignment"][v]) + Fraction(1, 10**900 + k)))
                for v, k in zip("abcpqs", (3, 7, 9, 13, 19, 33), strict=True)
            ))),
            r"^(an intermediate result|a common denominator) has more than \d+ bits$|^the check needs more work",
        ),
        # parameters out of range
        "n-two": (data(changed(instance, ("parameters/n", 2))), r"^parameters\.n: expected an integer >= 3, got 2$"),
        "n-negative": (data(changed(instance, ("parameters/n", -3))), r"^parameters\.n: expected an integer >= 3, got -3$"),
        "n-fraction": (data(changed(instance, ("parameters/n", "7/2"))), r"^parameters\.n: expected an integer >= 3, got '7/2'$"),
        "n-string": (data(changed(instance, ("parameters/n", "3/1"))), r"^parameters\.n: expected an integer >= 3, got '3/1'$"),
        "n-too-large-for-all-inputs": (data(changed(tight, ("parameters/n", 25))), r"^parameters\.n: expected an integer from 3 to 24, got 25$"),
        "eps-zero": (data(changed(instance, ("parameters/eps", 0))), r"^parameters\.eps: expected 0 < eps <= 1/2, got 0$"),
        "eps-negative": (data(changed(instance, ("parameters/eps", "-1/2"))), r"^parameters\.eps: expected 0 < eps <= 1/2, got -1/2$"),
        "eps-above-half": (data(changed(instance, ("parameters/eps", "501/1000"))), r"^parameters\.eps: expected 0 < eps <= 1/2, got 501/1000$"),
        "d-zero": (data(changed(instance, ("parameters/d", 0))), r"^parameters\.d: expected a positive number, got 0$"),
        "d-negative": (data(changed(instance, ("parameters/d", -3))), r"^parameters\.d: expected a positive number, got -3$"),
        "d-below-least-gap": (data(changed(instance, ("parameters/d", "199/100"))), r"^parameters\.d: expected a gap at least 2, got 199/100$"),
        "d-tightness-below-least-gap": (data(changed(tight, ("parameters/d", 1))), r"^parameters\.d: expected a gap at least 2, got 1$"),
        "d-countermodel-at-least-gap": (data(changed(counter, ("parameters/d", 2))), r"^parameters\.d: expected a gap below 2, got 2$"),
        "delta-zero": (data(changed(tight, ("parameters/delta", 0))), r"^parameters\.delta: expected a positive number, got 0$"),
        "factor-negative": (data(changed(counter, ("parameters/factor", -1))), r"^parameters\.factor: expected a positive number, got -1$"),
        "inputs-unknown": (data(changed(tight, ("parameters/inputs", "YZ"))), r'^parameters\.inputs: expected "YZM" or "xyz", got \'YZ\'$'),
        "inputs-list": (data(changed(tight, ("parameters/inputs", ["xyz"]))), r'^parameters\.inputs: expected "YZM" or "xyz", got \['),
        # shapes
        "parameters-list": (data(changed(instance, ("parameters", [3, 3, "1/2"]))), r"^parameters: expected an object, got \[3"),
        "witness-list": (data(changed(instance, ("witness", []))), r"^witness: expected an object, got \[\]$"),
        "multipliers-list": (data(changed(instance, (m, [1, 1, 1]))), r"^witness\.multipliers: expected an object, got \[1, 1, 1\]$"),
        "model-list": (data(changed(instance, ("witness/model", [1] * 6))), r"^witness\.model: expected an object, got \["),
        "terms-object": (data(changed(proof, ("witness/terms", {}))), r"^witness\.terms: expected a list, got \{\}$"),
        "term-list": (data(changed(proof, ("witness/terms/0", [1, ["a"]]))), r"^witness\.terms\[0\]: expected an object, got \["),
        "product-string": (data(changed(proof, ("witness/terms/5/product", "gap"))), r"^witness\.terms\[5\]\.product: expected a list, got 'gap'$"),
        "product-index": (data(changed(proof, ("witness/terms/5/product", [-1, 0]))), r"^witness\.terms\[5\]: expected a string, got -1$"),
        "product-nine-factors": (
            data(changed(proof, ("witness/terms/5/product", ["a"] * 9))),
            r"^witness\.terms\[5\]\.product: more than 8 factors$",
        ),
        "witness-of-another-rule": (data(changed(instance, ("rule", "polynomial-identity"))), r"^witness: unknown field 'multipliers'$"),
        "uses-object": (data(changed(instance, ("uses", {}))), r"^uses: expected a list, got \{\}$"),
        "uses-list-of-ids": (data(changed(instance, ("uses", [IDENTIFIER]))), r"^uses\[0\]: expected an object, got '0123"),
        "uses-number": (data(changed(instance, ("uses", [7]))), r"^uses\[0\]: expected an object, got 7$"),
        "uses-without-id": (used(("id", DELETE)), r"^uses\[0\]: the field 'id' is missing$"),
        "uses-without-parameters": (used(("parameters", DELETE)), r"^uses\[0\]: the field 'parameters' is missing$"),
        "uses-unknown-field": (used(("path", "x.json")), r"^uses\[0\]: unknown field 'path'$"),
        "uses-parameters-list": (used(("parameters", [])), r"^uses\[0\]\.parameters: expected an object, got \[\]$"),
        "uses-claim-number": (used(("claim", 3)), r"^uses\[0\]\.claim: expected a string, got 3$"),
        "uses-path": (used(("id", "../other.json")), r"^uses\[0\]\.id: expected 64 hexadecimal digits, got '\.\./other"),
        "uses-id-number": (used(("id", 7)), r"^uses\[0\]\.id: expected a string, got 7$"),
        "uses-capital-digits": (used(("id", IDENTIFIER.upper())), r"^uses\[0\]\.id: expected 64 hexadecimal digits, got "),
        "uses-63-digits": (used(("id", IDENTIFIER[1:])), r"^uses\[0\]\.id: expected 64 hexadecimal digits, got "),
        "uses-65-digits": (used(("id", IDENTIFIER + "0")), r"^uses\[0\]\.id: expected 64 hexadecimal digits, got "),
        "uses-the-same-twice": (
            data(changed(instance, ("uses", [use(proof), use(proof)]))),
            r"^uses\[1\]: the claim 'gap-domination-symbolic' is listed twice$",
        ),
        "producer-string": (data(changed(instance, ("producer", "me"))), r"^producer: expected an object, got 'me'$"),
    }  # fmt: skip
