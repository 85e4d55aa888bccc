"""Figures and pages. matplotlib is imported in this package and nowhere else."""
