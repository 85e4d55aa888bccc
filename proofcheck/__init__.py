"""proofcheck: machine-checked theory of what one nonnegative attention head can select.

This file runs before the trusted kernel does, so it holds nothing but this text
and the version.
"""

__version__ = "0.1.0"
