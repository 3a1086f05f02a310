"""Tables of words and patterns: each belongs to a module that reads all of it."""

from __future__ import annotations

import re
import tomllib
from importlib import import_module, resources

import pytest

from lamina.language.tables import Table

TABLES = sorted(
    (each for each in (resources.files("lamina.language") / "en").iterdir() if each.name.endswith(".toml")),
    key=lambda each: each.name,
)


@pytest.mark.parametrize("file", TABLES, ids=lambda file: file.name)
def test_nothing_stands_in_a_table_that_its_module_does_not_read(file):
    module = import_module(f"lamina.{file.name.removesuffix('.toml')}")
    code, text = (
        resources.files(module.__package__).joinpath(f"{module.__name__.rpartition('.')[2]}.py"),
        file.read_text(),
    )
    names = set(re.findall(r'"(\w+)"', code.read_text())) | set(re.findall(r"\{\{(\w+)\}\}", text))
    table = tomllib.loads(text)
    assert set(table) <= {"words", "parts", "patterns", "rows"}
    assert {name for section in table.values() for name in section} <= names


def test_parts_stand_in_patterns_and_rows():
    text = """
    [words]
    few = 'two three'
    pairs = 'sent:send went:go'
    [parts]
    who = '(?:i|{{others}})'
    others = ['we|', 'they']
    [patterns]
    goes = '\\b{{who}} {{how}} go'
    both = ['{{who}} a', '{{who}} b']
    [rows]
    kin = [['child', 'son daughter'], ['parent', ['mum', ' dad']]]
    """
    table = Table(text, {"how": "never"})
    assert table.words("few") == {"two", "three"}
    assert table.pairs("pairs") == {"sent": "send", "went": "go"}
    assert table.pattern("goes").search("THEY never go") is not None
    assert table.pattern("goes", 0).search("THEY never go") is None
    assert [each.pattern for each in table.patterns("both")] == ["(?:i|we|they) a", "(?:i|we|they) b"]
    assert table.by_word("kin") == {"son": "child", "daughter": "child", "mum": "parent", "dad": "parent"}
