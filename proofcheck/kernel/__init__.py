"""The trusted kernel: re-checks certificates with the standard library alone.

    python -S -m proofcheck.kernel FILE...

Read the modules in this order; each uses only those above it.

    exact    strict JSON and number parsing, rational polynomials
    minip    the definition of Min-IP, of a head, of correctness
    claims   (claim name, parameters) -> the exact statement
    rules    one function per certificate kind: does the witness show the statement?
    check    bytes of a file -> verdict

TRUST.md says for each rule why acceptance implies the claim.
"""
