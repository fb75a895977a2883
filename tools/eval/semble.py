#!/usr/bin/env python3
"""semble as a program of the measurement: a line {"tree": …, "query": …} in, a line with the paths out, the best first.

SEMBLE_MODEL names a folder with a model2vec model; without it semble takes its own, which it downloads."""
import json
import os
import sys

# This file has the package's name, and its folder comes first.
sys.path.pop(0)
from semble import SembleIndex  # noqa: E402

known = (None, None, None)
for line in sys.stdin:
    asked = json.loads(line)
    tree = asked["tree"]
    stamp = (tree, max((entry.stat().st_mtime_ns for entry in os.scandir(tree)), default=0))
    files = sorted(
        (os.path.join(folder, name), os.stat(os.path.join(folder, name)).st_mtime_ns)
        for folder, _, names in os.walk(tree)
        for name in names
        if os.path.isfile(os.path.join(folder, name))
    )
    if known[0] != stamp or known[1] != files:
        index = SembleIndex.from_path(tree, model_path=os.environ.get("SEMBLE_MODEL"))
        known = (stamp, files, index)
    paths = []
    for result in known[2].search(asked["query"], top_k=100):
        path = os.path.relpath(os.path.join(tree, result.chunk.file_path), tree)
        if path not in paths:
            paths.append(path)
    print(json.dumps(paths), flush=True)
