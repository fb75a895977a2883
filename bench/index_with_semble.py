"""Indexes a folder with semble and prints how long that took, in milliseconds.

The model's weights are random: what they are makes no difference to the time, and nothing has to be downloaded. The
tokenizer knows the words of the folder itself, as one that was trained on code would.
"""

import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
from model2vec.model import StaticModel
from semble.index.index import _build
from semble.types import ContentType
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

WORDS = 60_000
DIMENSIONS = 256


def random_model(root: Path) -> StaticModel:
    normalizer = normalizers.BertNormalizer(lowercase=True)
    splitter = pre_tokenizers.BertPreTokenizer()
    counts: Counter = Counter()
    for file in root.rglob("*.py"):
        text = normalizer.normalize_str(file.read_text(errors="replace"))
        counts.update(word for word, _ in splitter.pre_tokenize_str(text))
    letters = [chr(code) for code in range(33, 127)]
    words = ["[PAD]", "[UNK]", *letters, *("##" + letter for letter in letters)]
    words += [word for word, _ in counts.most_common(WORDS)]
    vocabulary = {word: number for number, word in enumerate(dict.fromkeys(words))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = splitter
    weights = np.random.default_rng(1).standard_normal((len(vocabulary), DIMENSIONS), dtype=np.float32)
    return StaticModel(weights, tokenizer)


def main() -> None:
    root = Path(sys.argv[1]).resolve()
    model = random_model(root)
    started = time.perf_counter()
    index = _build(root, model, "random", (ContentType.CODE,), False, None)
    elapsed = time.perf_counter() - started
    print(index.stats, file=sys.stderr)
    print(elapsed * 1000)


main()
