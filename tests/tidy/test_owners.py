"""Every place that can hold something of a person is listed, with what takes it away (``store/owners.py``)."""

from __future__ import annotations

import re
import typing

import apsw
import pytest
from house import MODULES, report

from lamina.store.memory import MemoryStore
from lamina.store.owners import CACHES, FILES, TABLES
from lamina.store.ports.store import Store
from lamina.store.sqlite.migrate import migrate

_KEEPS = re.compile(
    r"lru_cache|@cache\b|OrderedDict\(|default_factory=OrderedDict|mmap\.mmap|deque\(maxlen|WeakValue|WeakKey"
)


@pytest.fixture(scope="module")
def schema() -> dict[str, set[str]]:
    connection = apsw.Connection(":memory:")
    migrate(connection)
    tables = connection.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')").fetchall()
    return {
        name: {row[1] for row in connection.execute("SELECT * FROM pragma_table_info(?)", (name,))}
        for (name,) in tables
    }


def test_every_table_and_column_has_an_owner(schema: dict[str, set[str]]) -> None:
    listed = {name: set(place.columns) for name, place in TABLES.items()}
    missing = [f"{name}.{each}" for name in schema for each in sorted(schema[name] - listed.get(name, set()))]
    assert not missing, report("Say in store/owners.py what these hold, and what erases them:", missing)
    gone = [f"{name}.{each}" for name in listed for each in sorted(listed[name] - schema.get(name, set()))]
    assert not gone, report("These are no more; take them out of store/owners.py:", gone)


def test_whatever_holds_content_or_names_is_erased_or_says_why_not() -> None:
    unsaid = [name for name, place in TABLES.items() if place.tells and not (place.erased_by or place.why)]
    unsaid += [pattern for pattern, place in FILES.items() if not (place.erased_by or place.why)]
    assert not unsaid, report("Name what erases these, or why nothing has to:", unsaid)


def test_what_erases_is_a_function_of_a_port_in_every_engine() -> None:
    named = {each for place in TABLES.values() for each in place.erased_by}
    named |= {place.erased_by for place in FILES.values() if place.erased_by}
    store = MemoryStore()
    for name in sorted(named):
        port, method = name.split(".")
        getter = getattr(Store, port, None)
        assert isinstance(getter, property), f"{name}: Store has no port of that name"
        protocol = typing.get_type_hints(getter.fget)["return"]
        assert method in vars(protocol), f"{name}: {protocol.__name__} has no such function"
        assert callable(getattr(getattr(store, port), method))


def test_every_memory_of_a_process_says_how_it_follows_an_erasure() -> None:
    keeping = {
        module.name
        for module in MODULES
        if _KEEPS.search(module.text) and not module.name.startswith("store/owners")
    }
    missing = sorted(keeping - set(CACHES))
    assert not missing, report("Say in store/owners.py how these follow an erasure:", missing)
    names = {module.name for module in MODULES}
    assert not set(CACHES) - names, report("These are no more:", sorted(set(CACHES) - names))
