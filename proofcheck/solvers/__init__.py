"""Solvers answer; nobody believes them. z3 and cvc5 are imported in this folder and nowhere else.

query        what is asked: named polynomial conditions and the expected status
z3_solver    satisfiability and rational models by Z3
cvc5_solver  the same by cvc5, the second opinion
smtlib       queries as SMT-LIB 2 files, written and read back
dual         exact Motzkin multipliers, as a satisfiability query of their own
portfolio    "z3", "cvc5" or "both", with a loud error when they differ
"""
