"""One module per claim of the paper: the statement, its source, and how its certificates are produced."""
