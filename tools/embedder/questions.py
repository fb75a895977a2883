"""The short-question set and what is asked beside a table: BM25 over words and over stems.

A set is a JSON list of repositories: `repo`, `corpus` (path and text of each definition without its comment) and `questions`
(the comment's first sentence and the number of its definition)."""
import collections
import json
import math
import os
import pickle
import re

import numpy

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
STOP = set("a an and are as at be by for from how in is it of or the to this that which with if not on when".split())
ENDINGS = """izations ization ations ation ingly ments ables ibles ities izing ising ators ating ives able ible ment ness ions
ized izer ised ator ates ated izes ises ally ings ity ive ion ing ers ors ies ied ate ize ise est ed er or es ly al s y e""".split()


def terms(text):
    found = []
    for name in re.findall(r"[A-Za-z_][A-Za-z_0-9]*|\d+", text):
        parts = [part.lower() for part in WORD.findall(name)]
        found += parts + (["".join(parts)] if len(parts) > 1 else [])
    return found


def stem(word):
    if len(word) <= 3 or not re.fullmatch("[a-z]+", word):
        return word
    for ending in ENDINGS:
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= 3 and re.search("[aeiouy]", rest) and not (ending == "s" and rest[-1] == "s"):
            return rest[:-1] if len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "lsz" else rest
    return word


def bm25(texts, k1=1.2, b=0.75):
    counts = [collections.Counter(text) for text in texts]
    lengths = numpy.array([sum(count.values()) for count in counts], float)
    lists = collections.defaultdict(list)
    for number, count in enumerate(counts):
        for word, times in count.items():
            lists[word].append((number, times))
    norm = k1 * (1 - b + b * lengths / lengths.mean())

    def score(query):
        scores = numpy.zeros(len(texts), numpy.float32)
        for word in set(query):
            if found := lists.get(word):
                rarity = math.log(1 + (len(texts) - len(found) + 0.5) / (len(found) + 0.5))
                for number, times in found:
                    scores[number] += rarity * times * (k1 + 1) / (times + norm[number])
        return scores

    return score


def by_best(scores):
    return scores / scores.max() if scores.max() > 0 else scores


def read(path):
    """The set with `lexical` beside each question: words and stems, each divided by its best, summed. Kept beside the set."""
    kept = path + ".lexical"
    if os.path.exists(kept):
        return pickle.load(open(kept, "rb"))
    found = [repository for repository in json.load(open(path)) if repository["questions"]]
    for repository in found:
        texts = [terms(body) + terms(place) for place, body in repository["corpus"]]
        plain, stems = bm25(texts), bm25([[stem(word) for word in text] for text in texts])
        repository["lexical"] = []
        for question, _ in repository["questions"]:
            asked = [word for word in terms(question) if word not in STOP]
            repository["lexical"].append((by_best(plain(asked)), by_best(stems([stem(word) for word in asked]))))
    pickle.dump(found, open(kept, "wb"))
    return found


def halves():
    """Repository → tune or check."""
    place = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../eval/halves.txt")
    lines = [line.split() for line in open(place) if not line.startswith("#")]
    return {repository: half for half, repository in lines}


def near(vectors, query, most=200):
    """How near each is, from nothing at the 200th to one at the nearest."""
    scores = vectors @ query
    least = numpy.partition(scores, -min(most, len(scores)))[-min(most, len(scores))]
    return by_best(numpy.maximum(scores - least, 0))


def measure(questions, embed, weights=(0.5, 1.0, 1.5, 2.0), only=None):
    """Rows (name, half, @1, @10, MRR): lexical, the table alone, the table added."""
    of = halves()
    ranks = collections.defaultdict(list)
    for repository in questions:
        half = of[repository["repo"]]
        if only and half != only:
            continue
        vectors = embed([place.rsplit("/", 1)[-1] + "\n" + body for place, body in repository["corpus"]])
        asked = embed([question for question, _ in repository["questions"]])
        for (_, gold), (plain, stems), query in zip(repository["questions"], repository["lexical"], asked):
            fit = near(vectors, query)
            systems = [("lexical", plain + stems), ("alone", fit)]
            systems += [(f"added {weight}", plain + stems + weight * fit) for weight in weights]
            for name, scores in systems:
                ranks[name, half].append(1 + int((scores > scores[gold]).sum()) if scores[gold] > 0 else 10**6)
    for (name, half), found in ranks.items():
        found = numpy.array(found, float)
        yield name, half, (found <= 1).mean(), (found <= 10).mean(), (1 / found).mean()


def show(rows):
    for name, half, first, ten, mrr in sorted(rows, key=lambda row: (row[1], row[0])):
        print(f"{half:6} {name:10} @1 {first:.3f} @10 {ten:.3f} MRR {mrr:.3f}", flush=True)
