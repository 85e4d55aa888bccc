"""Many searches over a grid of (m, r, n, eps, seed), with results that do not depend on how they were run.

    plan     the grid -> shards with ids made of their content, and the plan file
    shards   one file a shard, and the merge that rejects gaps, overlaps, foreign and damaged files
    work     one shard: a search, its result and its certificates
    engines  where shards run: processes of this machine, or Ray
    sweep    the whole: what is missing is run and written, then all is merged

A result is a function of the shard and the settings in the plan (and of torch's version and the kind of processor):
neither the engine, nor the order, nor retries, nor killed workers enter it. Importing this package imports no torch and
no ray.
"""
