#!/usr/bin/env python3
"""Writes the file that goes into the binary: `pack.py TRAINED OUT.table GOLDEN.json` (TRAINED.npy and TRAINED.txt of train.py).

Also writes the golden set: texts with the vectors that this side computes from the packed bytes."""
import json
import struct
import sys

import numpy
from blake3 import blake3

from words import Vocabulary

TEXTS = [
    "where do we renew the login",
    "parse the request timeout from a header",
    "fn parse_request_timeout(header: &str) -> Option<Duration> {\n    header.parse().ok().map(Duration::from_secs)\n}",
    "class HTTPServer2(BaseServer):\n    def __init__(self, addr=('localhost', 8080)):\n        self.XMLParser = None",
    "export const useDebouncedValue = <T>(value: T, delayMs = 250) => { /* … */ };",
    "static inline int32_t sds_len_utf8(const sds s) { return sdslen(s) >> 1; }",
    "Returns the returns of the return that returns",
    "Äpfel und Birnen für den Straßenbau: naïve café, ÜberGröße",
    "日本語のコメント と code",
    "zzxqvkjw qqqq9x aGVsbG8gd29ybGQ",
    "x",
    "",
]

trained, out, golden = sys.argv[1:]
values = numpy.load(trained + ".npy")
tokens = open(trained + ".txt").read().split()
assert values.shape == (len(tokens), 256), values.shape
scales = (numpy.abs(values).max(1) / 127 + 1e-12).astype("<f4")
rows = numpy.round(values / scales[:, None]).astype(numpy.int8)
names = "".join(token + "\n" for token in tokens).encode()
body = names + scales.tobytes() + rows.tobytes()
head = b"CHARTTBL" + struct.pack("<4I", 1, 256, len(tokens), len(names)) + blake3(body).digest()[:16]
with open(out, "wb") as file:
    file.write(head + body)

vocabulary = Vocabulary(tokens)
exact = rows.astype(numpy.float64) * scales[:, None]
found = []
for text in TEXTS:
    ids, n = numpy.unique(numpy.array(vocabulary.encode(text), int), return_counts=True)
    vector = (1 + numpy.log(n)) @ exact[ids] if len(ids) else numpy.zeros(256)
    vector = vector / (numpy.linalg.norm(vector) or 1)
    found.append({"text": text, "pieces": [tokens[piece] for piece in vocabulary.encode(text)], "vector": [round(float(value), 5) for value in vector]})
with open(golden, "w") as file:
    file.write("[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in found) + "\n]\n")
print(len(head + body), "bytes,", len(tokens), "tokens")
