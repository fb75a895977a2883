"""A text as the encoder sees it: words as crates/search/src/query/words.rs finds them, then pieces of the vocabulary.

The golden set holds this and the Rust encoder together."""
import re

PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
MAX_WORD = 64
MAX_WORDS = 600


def words(text):
    if text.isascii():
        found = [part.lower() for part in PART.findall(text)]
        return [word for word in found if len(word) <= MAX_WORD]
    return [word for word in slowly(text) if len(word.encode()) <= MAX_WORD]


def kind(c):
    if c.isascii():
        return "l" if "a" <= c <= "z" else "u" if "A" <= c <= "Z" else "d" if "0" <= c <= "9" else ""
    return "u" if c.isupper() else "l" if c.isalpha() else "d" if c.isnumeric() else ""


def slowly(text):
    """The same for texts with other letters, character by character."""
    part, before, before_that = "", "", ""
    for c in text:
        now = kind(c)
        if not now:
            if part:
                yield part.lower()
            part = ""
        elif not part:
            part = c
        elif (before, now) == ("l", "u") or (before == "d") != (now == "d"):
            yield part.lower()
            part = c
        elif (before, now, before_that) == ("u", "l", "u") and len(part) > 1:
            yield part[:-1].lower()
            part = part[-1] + c
        else:
            part += c
        before_that, before = before, now
    if part:
        yield part.lower()


class Vocabulary:
    """Tokens by number; `##` begins a piece that stands inside a word."""

    def __init__(self, tokens):
        self.numbers = {token: number for number, token in enumerate(tokens)}
        self.longest = max(map(len, tokens))
        self.known = {}

    def pieces(self, word):
        """The longest beginnings that are known, again and again; nothing when a rest has none."""
        found = self.known.get(word)
        if found is None:
            found, at = [], 0
            while at < len(word):
                head = "##" if at else ""
                for end in range(min(len(word), at + self.longest), at, -1):
                    number = self.numbers.get(head + word[at:end])
                    if number is not None:
                        found.append(number)
                        at = end
                        break
                else:
                    found = []
                    break
            self.known[word] = found
        return found

    def encode(self, text):
        """Numbers of the pieces of the first words."""
        return [number for word in words(text)[:MAX_WORDS] for number in self.pieces(word)]
