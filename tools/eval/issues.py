#!/usr/bin/env python3
"""Rows from public sets of issues, and how much words say in issues, counted over their texts.

`issues.py rows MIRROR [WITHOUT] > ROWS` writes what `cargo xtask eval` reads, of repositories that are in no half or on tune, without
the rows of WITHOUT;
`issues.py words MIRROR > crates/search/src/query/issue_words.txt` writes the table of words, of which no text is of a repository of
check. MIRROR has bare repositories, `owner+name/repo`: the sets below and the repositories that the rows are of. No text goes
into the project."""

import collections
import hashlib
import json
import os
import re
import subprocess
import sys

HALVES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "halves.txt")
# Each with a folder a task: a text and a patch.
SWE_BENCH = ["swe-bench-multilingual-tasks", "swe-bench-tasks", "swe-bench-multimodal-dockerfiles"]
KOTLIN = "ifabrish+kotlin-swe-bench"
MULTI_SWE_BENCH = "kuppireddypravalika+MSWE-validation-dataset"

# Rows of a repository, characters of a text, gold files, source files of a tree.
MOST_ROWS, MOST_TEXT, MOST_GOLD, LEAST_FILES = 12, 4000, 3, 20
# Its trees are large.
FEWER = {"sympy/sympy": 8}
# Texts of a repository that words are counted in; the share of issues above which a word says less, and how much less.
MOST_TEXTS, COMMON, POWER = 40, 0.01, 0.1

LANGUAGES = {
    "py": "Python", "pyx": "Python", "rs": "Rust", "ts": "TypeScript", "tsx": "TypeScript", "mts": "TypeScript",
    "c": "C", "h": "C", "js": "JavaScript", "jsx": "JavaScript", "mjs": "JavaScript", "cjs": "JavaScript",
    "vue": "JavaScript", "go": "Go", "php": "PHP", "java": "Java", "rb": "Ruby", "cpp": "C++", "cc": "C++",
    "hpp": "C++", "cxx": "C++", "hh": "C++", "cs": "C#", "kt": "Kotlin", "kts": "Kotlin", "lua": "Lua",
}  # fmt: skip
NO_SOURCE = re.compile(
    r"(^|/)(tests?|__tests__|testing|specs?|docs?|examples?|samples?|demos?|benchmarks?|benches|fixtures?|node_modules"
    r"|vendor|third_party|dist|build|single_include|generated|e2e|integration|integration-tests?|__mocks__|stories"
    r"|testdata|website|changelog[^/]*|androidTest|testFixtures|jsTest|test-data|tests?[-_][^/]*|[a-z-]+[-_]tests?"
    r"|src/[a-zA-Z]*Test)/"
    r"|(^|/)(test_[^/]*|conftest\.py|setup\.py|[^/]*(_test|_tests|_spec|[.-]test|[.-]spec|[.-]stories|\.min|\.d)\.[a-z]+"
    r"|[^/]*(Tests?|Spec|IT)\.(java|kt|cs|php)|tests\.py|tests?\.rs|[^/]*\.(pb\.go|gen\.[a-z]+)|_?version\.[a-z]+"
    r"|gulpfile\.js|rollup\.config\.[a-z]+|webpack[^/]*\.js|karma[^/]*\.js|Gruntfile\.js|parser\.c|lexer\.c"
    r"|(build|settings)\.gradle\.kts)$",
    re.I,
)


def git(mirror, repo, *arguments, given=None):
    command = ["git", "--git-dir", os.path.join(mirror, repo, "repo"), *arguments]
    return subprocess.run(command, input=given, capture_output=True).stdout


def contents(mirror, repo, paths):
    """The texts of the newest commit, or nothing where a snapshot lacks one."""
    out = git(mirror, repo, "cat-file", "--batch", given="".join(f"HEAD:{path}\n" for path in paths).encode())
    at, texts = 0, []
    for _ in paths:
        end = out.index(b"\n", at)
        head, at = out[at:end].split(), end + 1
        if head[-1] == b"missing":
            texts.append("")
        else:
            size = int(head[2])
            texts.append(out[at : at + size].decode("utf8", "replace"))
            at += size + 1
    return texts


def raw_rows(mirror):
    """Every task of the sets: id, repository, commit, text, patch, source, date."""

    def tasks(repo, *files):
        ids = git(mirror, repo, "ls-tree", "--name-only", "HEAD", "tasks/").decode().split()
        lists = [contents(mirror, repo, [f"{task}/{file}" for task in ids]) for file in files]
        return [(task.removeprefix("tasks/"), *texts) for task, *texts in zip(ids, *lists) if all(texts)]

    for name in SWE_BENCH:
        for task, about, text, patch in tasks(f"SWE-bench+{name}", "task.yaml", "problem_statement.md", "gold.patch"):
            about = dict(re.findall(r"^(\w+): '?([^'\n]*)'?$", about, re.M))
            yield task, about["repo"], about["base_commit"], text, patch, name, about.get("created_at", "")
    files = ["task.toml", "instruction.md", "solution/fix.patch", "environment/prepare.sh"]
    for task, about, text, patch, prepare in tasks(KOTLIN, *files):
        repo = "/".join(re.search(rf'{part} = "(.*)"', about)[1] for part in ("owner", "name"))
        if commit := re.search(r"git checkout ([0-9a-f]{40})", prepare):
            text = re.sub(r"^## Issue #\d+ https?://\S+: *", "", re.sub(r"^# Implement.*\n+", "", text), flags=re.M)
            yield task, repo, commit[1], text, patch, "kotlin-swe-bench", ""
    data = git(mirror, MULTI_SWE_BENCH, "ls-tree", "-r", "--name-only", "HEAD", "MSWE-agent/data").decode().split()
    for text in contents(mirror, MULTI_SWE_BENCH, [path for path in data if path.endswith(".jsonl")]):
        for line in filter(lambda line: '"resolved_issues"' in line, text.split("\n")):
            row = json.loads(line)
            issues = "\n\n".join(f"{it.get('title') or ''}\n{it.get('body') or ''}" for it in row["resolved_issues"])
            repo = f"{row['org']}/{row['repo']}"
            task = f"{row['org']}__{row['repo']}-{row['number']}"
            yield task, repo, row["base"]["sha"], issues, row["fix_patch"], "multi-swe-bench", ""


def halves():
    lines = [line.split() for line in open(HALVES) if not line.startswith("#")]
    return {repo.lower(): half for half, repo in lines}


def known(mirror):
    """Each task once, without those of check's repositories."""
    half, seen = halves(), set()
    for task, repo, *rest in sorted(raw_rows(mirror), key=lambda row: (row[5], row[0])):
        if half.get(repo.lower()) != "check" and task.lower() not in seen:
            seen.add(task.lower())
            yield task, repo, *rest


def is_source(path):
    return path.rsplit(".", 1)[-1].lower() in LANGUAGES and not NO_SOURCE.search(path)


def gold_of(patch):
    """The source files that a patch changes, or nothing where it adds, moves or removes one."""
    changes = re.findall(r"^diff --git a/(.*?) b/(\S+)$((?:\n(?!diff --git ).*){0,4})", patch, re.M)
    sources = [(old, more) for old, new, more in changes if is_source(old) or is_source(new)]
    whole = re.compile(r"^(new file|deleted file|rename from)", re.M)
    return sorted({old for old, more in sources}) if not any(whole.search(more) for _, more in sources) else []


def rows(mirror, without=None):
    left_out = [json.loads(line) for line in open(without)] if without else []
    ids = {row["id"].lower() for row in left_out}
    names = {name.replace("+", "/").lower(): name for name in os.listdir(mirror)}
    by_repo, texts = collections.defaultdict(list), {row["text"][:200] for row in left_out}
    for task, repo, commit, text, patch, source, date in known(mirror):
        text = re.sub(r"(https?://\S{200})\S+", r"\1", text.replace("\r\n", "\n")).strip()[:MOST_TEXT]
        gold = gold_of(patch)
        if task.lower() in ids:
            continue
        if len(text) >= 60 and text[:200] not in texts and 1 <= len(gold) <= MOST_GOLD and repo.lower() in names:
            texts.add(text[:200])
            by_repo[names[repo.lower()]].append((date, task, commit, text, gold, source))
    for name, found in sorted(by_repo.items()):
        dated = []
        for date, *row in found:
            date = date or git(mirror, name, "show", "-s", "--format=%cI", row[1]).decode().strip()
            dated += [(date, *row)] if date else []
        dated.sort(key=lambda row: row[0])
        # A run of rows that are near in time, from a place that a hash chooses: such trees are quick to index in turn.
        most = FEWER.get(name.replace("+", "/"), MOST_ROWS)
        last = max(1, len(dated) - most + 1)
        start = int(hashlib.sha256(name.replace("+", "/").encode()).hexdigest(), 16) % last
        kept = []
        for date, task, commit, text, gold, source in dated[start:] + dated[:start][::-1]:
            tree = set(git(mirror, name, "ls-tree", "-r", "--name-only", commit).decode("utf8", "replace").split("\n"))
            if len(kept) < most and tree.issuperset(gold) and sum(map(is_source, tree)) >= LEAST_FILES:
                language = LANGUAGES[gold[0].rsplit(".", 1)[-1].lower()]
                repo = name.replace("+", "/")
                row = {"id": task, "repo": repo, "language": language, "base_commit": commit, "text": text, "gold": gold}
                kept.append((date, {**row, "source": source}))
        for _, row in sorted(kept, key=lambda row: row[0]):
            print(json.dumps(row))


PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")


def terms(text):
    """As crates/search/src/query/words.rs."""
    for name in re.findall(r"\w+", text):
        parts = [part.lower() for part in PARTS.findall(name) if len(part) <= 64]
        yield from parts
        if len(parts) > 1:
            yield "".join(parts)


def words(mirror):
    texts = collections.defaultdict(dict)
    for task, repo, _, text, *_ in known(mirror):
        texts[repo.lower()][hashlib.sha256(task.lower().encode()).hexdigest()] = text
    shares, total = collections.Counter(), 0.0
    for of_repo in texts.values():
        kept = [text for _, text in sorted(of_repo.items())][:MOST_TEXTS]
        counts = collections.Counter()
        for text in kept:
            text = re.sub(r"<!--.*?-->", " ", text, flags=re.S)
            counts.update(set(terms(re.sub(r"https?://[^\s\"'<>)`]+", " ", text)[:MOST_TEXT])))
        # A repository with many texts counts more than one with few, but not by as much.
        weight = len(kept) ** 0.5
        total += weight
        for word, count in counts.items():
            shares[word] += weight * count / len(kept)
    n_texts = sum(len(of_repo) for of_repo in texts.values())
    print(f"# How much a word of an issue says about the place to change, where it says less than others: (s / {COMMON})^-{POWER},")
    print("# with s the share of issues that have the word; any other word: 1. Written by `tools/eval/issues.py words`,")
    print(f"# counted over {n_texts} issues of {len(texts)} repositories, at most {MOST_TEXTS} of each, none of which is on check.")
    for word, share in sorted(shares.items()):
        if share / total > COMMON:
            print(word, f"{(share / total / COMMON) ** -POWER:.2f}")


if __name__ == "__main__":
    {"rows": rows, "words": words}[sys.argv[1]](*sys.argv[2:])
