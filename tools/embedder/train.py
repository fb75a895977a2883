#!/usr/bin/env python3
"""Trains the table: `train.py PAIRS.jsonl DISTILLED.npy TOKENIZER.json OUT [--steps N] [--set QUESTIONS.json]`.

Starts from the table of distill.py, adds words that code has and the vocabulary lacks, and pulls each sentence towards its definition, away from the others of the batch (InfoNCE both ways). A batch is made of a few
packages, many pairs of each: search tells things of one repository apart. Writes OUT.npy and OUT.txt (tokens by number)."""
import argparse
import collections
import json
import re
import time

import numpy
import scipy.sparse

import questions
from words import MAX_WORDS, Vocabulary, words

ap = argparse.ArgumentParser()
ap.add_argument("pairs")
ap.add_argument("table")
ap.add_argument("tokenizer")
ap.add_argument("out")
ap.add_argument("--steps", type=int, default=2000)
ap.add_argument("--rows", type=int, default=33500)
ap.add_argument("--batch", type=int, default=1024)
ap.add_argument("--packages", type=int, default=16)
ap.add_argument("--rate", type=float, default=0.005)
ap.add_argument("--heat", type=float, default=20.0)
ap.add_argument("--set")
ap.add_argument("--seconds", type=float, default=float("inf"))
args = ap.parse_args()
random = numpy.random.default_rng(0)

# Every text as numbers of words first: they are looked for once.
numbers_of = collections.defaultdict(lambda: len(numbers_of))
texts, borders, sources = [], [0], []
packages = collections.defaultdict(set)
for line in open(args.pairs):
    pair = json.loads(line)
    body, _, rest = pair["body"].partition("\n")
    for text in (pair["said"], body, rest, pair["path"].rsplit("/", 1)[-1]):
        found = [numbers_of[word] for word in words(text)]
        texts.append(numpy.array(found, numpy.int32))
        borders.append(borders[-1] + len(found))
        for word in set(found):
            packages[word].add(pair["from"])
    sources.append(pair["from"])
flat = numpy.concatenate(texts)
counts = numpy.bincount(flat, minlength=len(numbers_of))
times = collections.Counter({word: int(counts[number]) for word, number in numbers_of.items()})
packages = {word: len(packages[number]) for word, number in numbers_of.items()}
base = json.load(open(args.tokenizer))["model"]["vocab"]
plain = re.compile("(##)?[a-z0-9]+")
tokens = [token for token in base if plain.fullmatch(token)]
old = Vocabulary(tokens)
new = [word for word, _ in times.most_common() if word not in old.numbers and word.isalpha() and word.isascii()
       and len(word) > 2 and packages[word] >= 4]
new = new[: max(0, args.rows - len(tokens))]
before = numpy.load(args.table).astype(numpy.float32)
rows = [before[base[token]] for token in tokens]
for word in new:
    pieces = old.pieces(word)
    rows.append(before[[base[tokens[piece]] for piece in pieces]].mean(0) if pieces else numpy.zeros(before.shape[1], numpy.float32))
vocabulary = Vocabulary(tokens + new)
start = numpy.array(rows, numpy.float32)
print(len(sources), "pairs,", len(tokens), "tokens +", len(new), "words", flush=True)

# Words become pieces all at once.
pieces = [vocabulary.pieces(word) for word in numbers_of]
n_pieces = numpy.array([len(piece) for piece in pieces])
all_pieces = numpy.array([piece for word in pieces for piece in word], numpy.int32)
begins = numpy.cumsum(n_pieces) - n_pieces
repeats = n_pieces[flat]
ends = numpy.concatenate([[0], numpy.cumsum(repeats)])
flat = all_pieces[numpy.repeat(begins[flat] - ends[:-1], repeats) + numpy.arange(ends[-1])]
encoded = numpy.split(flat, ends[borders][1:-1])
said, head, rest, file = encoded[::4], encoded[1::4], encoded[2::4], encoded[3::4]
groups = collections.defaultdict(list)
for number, source in enumerate(sources):
    if len(said[number]) and len(rest[number]):
        groups[source].append(number)
# What is left over of small packages is one group: a batch wants many pairs of one place.
small = [number for members in groups.values() if len(members) < 64 for number in members]
groups = [numpy.array(members) for members in groups.values() if len(members) >= 64] + [numpy.array(small)]
share = numpy.array([len(members) for members in groups], float) ** 0.75
share /= share.sum()
print("encoded in", round(time.process_time()), "s,", len(groups), "groups", flush=True)


def weighed(numbers):
    ids, n = numpy.unique(numbers, return_counts=True)
    return ids, 1 + numpy.log(n)


def vectors(table, lists):
    """Unit vectors, their lengths before, the tokens that take part, and how."""
    both = [weighed(numbers) for numbers in lists]
    tokens, places = numpy.unique(numpy.concatenate([ids for ids, _ in both]), return_inverse=True)
    borders = numpy.cumsum([0] + [len(ids) for ids, _ in both])
    weights = numpy.concatenate([n for _, n in both]).astype(numpy.float32)
    bags = scipy.sparse.csr_matrix((weights, places, borders), shape=(len(lists), len(tokens)))
    sums = bags @ table[tokens]
    lengths = numpy.linalg.norm(sums, axis=1, keepdims=True) + 1e-9
    return sums / lengths, lengths, tokens, bags


def gradient(of, found, table_gradient):
    units, lengths, tokens, bags = found
    of = (of - (of * units).sum(1, keepdims=True) * units) / lengths
    table_gradient[tokens] += bags.T @ of
    return tokens


def soft(likeness):
    likeness = numpy.exp(likeness - likeness.max(1, keepdims=True))
    return likeness / likeness.sum(1, keepdims=True)


def definition(number, group):
    parts = [file[number]] if random.random() < 0.5 else []
    parts += [] if random.random() < 1 / 3 else [head[number]]
    parts.append(rest[number])
    if random.random() < 0.25:  # chunks often hold a neighbour too
        other = group[random.integers(len(group))]
        parts += [head[other], rest[other]]
    return numpy.concatenate(parts)[:MAX_WORDS]


def quantised(values):
    scale = numpy.abs(values).max(1, keepdims=True) / 127 + 1e-12
    return (numpy.round(values / scale) * scale).astype(numpy.float32)


def embed_with(values):
    def embed(texts):
        found = numpy.zeros((len(texts), values.shape[1]), numpy.float32)
        for at, text in enumerate(texts):
            ids, n = weighed(vocabulary.encode(text))
            if len(ids):
                found[at] = n.astype(numpy.float32) @ values[ids]
        return found / (numpy.linalg.norm(found, axis=1, keepdims=True) + 1e-9)
    return embed


began, losses = time.time(), []
table = start.copy()
slopes, first, second = (numpy.zeros_like(table) for _ in range(3))
one = numpy.eye(args.batch, dtype=numpy.float32)
for step in range(args.steps):
    if time.time() - began > args.seconds:
        print("out of time at", step)
        break
    chosen = random.choice(len(groups), args.packages, p=share)
    each = args.batch // args.packages
    numbers = [(n, groups[g]) for g in chosen for n in random.choice(groups[g], each, replace=len(groups[g]) < each)]
    left = vectors(table, [said[n] for n, _ in numbers])
    right = vectors(table, [definition(*one) for one in numbers])
    likeness = args.heat * left[0] @ right[0].T
    # A pair that is there twice is no wrong answer.
    ids = numpy.array([n for n, _ in numbers])
    likeness[(ids[:, None] == ids[None, :]) & (one == 0)] = -1e4
    ahead, back = soft(likeness), soft(likeness.T)
    losses.append(-numpy.log(numpy.diagonal(ahead) + 1e-9).mean())
    slope = args.heat * ((ahead - one) + (back - one).T) / (2 * args.batch)
    touched = numpy.union1d(gradient(slope @ right[0], left, slopes), gradient(slope.T @ left[0], right, slopes))
    now = slopes[touched]
    slopes[touched] = 0
    # Adam, only where something was touched.
    first[touched] = 0.9 * first[touched] + 0.1 * now
    second[touched] = 0.999 * second[touched] + 0.001 * now * now
    rate = args.rate * min(1, (step + 1) / 50) * (1 - step / args.steps)
    table[touched] -= rate * (first[touched] / (1 - 0.9 ** (step + 1))) / (numpy.sqrt(second[touched] / (1 - 0.999 ** (step + 1))) + 1e-8)
    if step % 50 == 49:
        print(step + 1, round(float(sum(losses[-50:])) / 50, 3), round(time.time() - began), "s", flush=True)

values = quantised(table)
numpy.save(args.out + ".npy", values)
with open(args.out + ".txt", "w") as out:
    out.writelines(token + "\n" for token in tokens + new)
if args.set:
    questions.show(questions.measure(questions.read(args.set), embed_with(values)))
