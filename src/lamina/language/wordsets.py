"""Word lists written as text: easier to read and to extend than a column of quoted strings."""


def word_set(words: str) -> frozenset[str]:
    """The blank-separated words of `words`.

    >>> sorted(word_set("b a"))
    ['a', 'b']
    """
    return frozenset(words.split())
