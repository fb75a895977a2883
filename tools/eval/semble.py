#!/usr/bin/env python3
"""semble 0.7.0 as a program of the measurement: a line {"tree": …, "query": …} in, a line with the paths out, the best first.

SEMBLE_MODEL names a folder with a model2vec model; SEMBLE_TABLE our own table of words
(crates/search/src/embed/words/code-words-256-v1.table), which stands in for its weights where no registry has them. Without
either semble takes its own, which it downloads. What a file is cut into and the vectors of the pieces are kept by content, so
that the next tree of a repository costs what differs; which answers come out is not changed by that."""
import json
import os
import sys

import numpy as np

# This file has the package's name, and its folder comes first.
sys.path.pop(0)
import semble.index.create as create  # noqa: E402
import semble.index.index as index_module  # noqa: E402
from model2vec import StaticModel  # noqa: E402
from semble import SembleIndex  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


class Table(StaticModel):
    """Our table with our words: semble asks it for vectors as it asks its own."""

    def __init__(self, path):
        sys.path.append(os.path.join(HERE, "..", "embedder"))
        import words

        data = open(path, "rb").read()
        assert data[:8] == b"CHARTTBL", path
        dimension, n_tokens, n_names = (int(number) for number in np.frombuffer(data[12:24], "<u4"))
        names, rest = data[40 : 40 + n_names], data[40 + n_names :]
        scales = np.frombuffer(rest[: 4 * n_tokens], "<f4")
        rows = np.frombuffer(rest[4 * n_tokens :], np.int8).reshape(n_tokens, dimension)
        self.embedding = rows.astype(np.float32) * scales[:, None]
        self.vocabulary = words.Vocabulary(names.decode().split("\n")[:n_tokens])
        self.weights = self.token_mapping = self._max_length = None
        self.config, self._normalize, self.median_token_length = {}, True, 1

    def _set_max_length_in_tokenizer(self, length):
        pass

    def tokenize(self, sentences):
        return [self.vocabulary.encode(sentence) for sentence in sentences]


def keep_by_content():
    """Has semble cut and embed each content once."""
    cut, embed = create._chunk_file, create.embed_chunks
    pieces, vectors = {}, {}

    def chunk_file(path, indexed_path):
        key = (indexed_path, path.read_bytes())
        if key not in pieces:
            pieces[key] = cut(path, indexed_path)
        return pieces[key]

    def embed_chunks(model, chunks):
        new = [chunk for chunk in chunks if chunk.content not in vectors]
        for chunk, vector in zip(new, embed(model, new)):
            vectors[chunk.content] = vector
        found = [vectors[chunk.content] for chunk in chunks]
        return np.array(found, dtype=np.float32).reshape(len(chunks), model.dim)

    create._chunk_file, create.embed_chunks = chunk_file, embed_chunks


def main():
    model = os.environ.get("SEMBLE_MODEL")
    if table := os.environ.get("SEMBLE_TABLE"):
        known_table = Table(table)
        index_module.load_model = lambda _: (known_table, table)
    keep_by_content()
    known = (None, None, None)
    for line in sys.stdin:
        asked = json.loads(line)
        tree = asked["tree"]
        files = sorted(
            (os.path.join(folder, name), os.stat(os.path.join(folder, name)).st_mtime_ns)
            for folder, _, names in os.walk(tree)
            for name in names
            if os.path.isfile(os.path.join(folder, name))
        )
        if known[:2] != (tree, files):
            known = (tree, files, SembleIndex.from_path(tree, model_path=model))
        paths = []
        for result in known[2].search(asked["query"], top_k=100):
            path = os.path.relpath(os.path.join(tree, result.chunk.file_path), tree)
            if path not in paths:
                paths.append(path)
        print(json.dumps(paths), flush=True)


main()
