#!/usr/bin/env python3
"""Pairs to train on: `pairs.py FOLDER OUT.jsonl [REFUSED.jsonl]`.

A pair is the first sentence of a comment and the definition that it stands before, without the comment. FOLDER has the
archives of fetch.py. REFUSED has questions that the table is measured with, an object with `text` a line: no pair has one of
those sentences."""
import ast
import hashlib
import json
import os
import re
import sys
import tarfile

MOST = 1500
LARGEST = 400_000
BRACES = {".rs", ".go", ".java", ".kt", ".kts", ".ts", ".tsx", ".js", ".mjs", ".jsx", ".c", ".h", ".cc", ".cpp", ".hpp", ".cxx", ".cs", ".php", ".scala", ".swift"}
OTHERS = {".rb", ".lua"}
FLAT = {".c", ".go"}
STATEMENT = re.compile(r"\s*(if|for|while|return|switch|else|case|break|var|let|assert|throw|goto|continue)\b|.*[^=]=[^=>].*;$")
LEFT_OUT = re.compile(r"(^|/)(tests?|__tests__|specs?|testing|testdata|examples?|docs?|vendor|third_party|node_modules|bench\w*|fixtures|deps|contrib|debian)/|\.min\.|\.d\.ts$|_test\.|test_|\.spec\.")
COMMENT = re.compile(r"\s*(///?|//!|/\*|\*|#(?!\[|include|define|if|endif|else|pragma|undef|error)|--)")
ATTRIBUTE = re.compile(r"\s*(#\[|@\w|\[\w)")
REFUSED = re.compile(r"copyright|licen[sc]e|todo|fixme|eslint|http|generated|noqa|===|\{@|nolint|@ts-|deprecated|pylint", re.I)
PERMISSIVE = re.compile(r"MIT|Apache|BSD|ISC|Zlib|Unlicense|BSL|CC0")


def sentence(lines):
    """The first sentence, if it can be asked."""
    text = []
    for line in lines:
        line = re.sub(r"^\s*(///?|//!|/\*\*?|\*/|\*|#+|--+!?)\s?", "", line).replace("*/", "").strip()
        if not line:
            if text:
                break
            continue
        if line[0] in "@\\:":
            break
        text.append(line)
    said = re.split(r"\.\s|\.$", " ".join(text))[0].strip()
    plain = sum(c.isalpha() or c == " " for c in said)
    fits = 4 <= len(said.split()) <= 30 and said[0].isalpha() and plain > 0.8 * len(said) and said.isascii()
    return said if fits and not REFUSED.search(said) else None


def of_python(text):
    lines = text.split("\n")
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) or len(node.body) < 2:
            continue
        doc = ast.get_docstring(node)
        if doc and (said := sentence(doc.split("\n"))):
            string = node.body[0]
            body = lines[node.lineno - 1 : string.lineno - 1] + lines[string.end_lineno : min(node.end_lineno, node.lineno + 80)]
            yield said, "\n".join(body)


def of_others(text, ending):
    # Comments further in stand before statements.
    deepest = 0 if ending in FLAT else 4
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        if not COMMENT.match(lines[at]):
            at += 1
            continue
        first = at
        while at < len(lines) and COMMENT.match(lines[at]):
            at += 1
        start = at
        while at < len(lines) and ATTRIBUTE.match(lines[at]):
            at += 1
        if at >= len(lines) or not re.search(r"[A-Za-z]\w+", lines[at]) or "import " in lines[at]:
            continue
        said = sentence(lines[first:start])
        if not said:
            continue
        indent = len(lines[at].expandtabs(4)) - len(lines[at].expandtabs(4).lstrip())
        if indent > deepest or STATEMENT.match(lines[at]):
            continue
        end = at + 1
        while end < len(lines) and end < at + 60:
            line = lines[end]
            depth = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())
            if line.strip() and depth <= indent:
                if line.strip()[0] in "})]" or line.strip() == "end":
                    end += 1
                    break
                if line.strip()[0] != "{":
                    break
            if not line.strip() and lines[end - 1].rstrip().endswith((";", "}", ",")) and end == at + 1:
                break
            end += 1
        body = lines[at:end]
        if len("\n".join(body)) > 40:
            yield said, "\n".join(body)


def pairs_of(path):
    with tarfile.open(path) as archive:
        for member in archive:
            ending = os.path.splitext(member.name)[1]
            inside = member.name.split("/", 1)[-1]
            if ending == ".toml" and inside == "Cargo.toml":
                about = archive.extractfile(member).read().decode("utf8", "replace")
                said = re.search(r'^license = "(.*)"', about, re.M)
                if not said or not PERMISSIVE.search(said[1]):
                    return
            if not member.isfile() or member.size > LARGEST or LEFT_OUT.search(inside):
                continue
            if ending not in BRACES and ending not in OTHERS and ending != ".py":
                continue
            try:
                text = archive.extractfile(member).read().decode("utf8")
                found = of_python(text) if ending == ".py" else of_others(text, ending)
                for said, body in found:
                    yield said, body, inside
            except (UnicodeDecodeError, SyntaxError, ValueError, RecursionError):
                continue


def main(folder, out, refused=None):
    seen = set()
    if refused:
        seen = {json.loads(line)["text"].lower() for line in open(refused)}
    total = 0
    with open(out, "w") as file:
        for name in sorted(os.listdir(folder)):
            if name.endswith(".part"):
                continue
            n = 0
            try:
                # By a hash, so that a large package gives of all its parts.
                found = list(pairs_of(os.path.join(folder, name)))
            except (tarfile.TarError, EOFError, OSError) as error:
                print("unreadable:", name, error, file=sys.stderr)
                continue
            found.sort(key=lambda pair: hashlib.sha256((pair[0] + pair[1]).encode("utf8", "replace")).digest())
            for said, body, path in found:
                if n >= MOST:
                    break
                if said.lower() in seen or body in seen:
                    continue
                seen.update((said.lower(), body))
                file.write(json.dumps({"said": said, "body": body[:2500], "path": path, "from": name}) + "\n")
                n += 1
            total += n
            print(name, len(found), n, flush=True)
    print(total)


main(*sys.argv[1:])
