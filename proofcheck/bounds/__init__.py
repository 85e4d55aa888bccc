"""Certified lower and upper bounds on the feature rank r*(m,n), beyond the paper's.

layers     lower: expurgated layers with every distance (mathematics.md B2), optimised by floats, decided exactly
small      lower: shattered pairs, refuted chirotopes, and the topological bound m - 2
heads      upper: explicit heads, by class of tokens or as tables (B3)
best       the best of all for one (m, n, eps), with the paper's beside it
"""
