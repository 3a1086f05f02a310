"""Groups of a graph, and a real graphiti-core group where it is installed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from given import NOON, append
from lamina.kernel.scopes import Scope
from lamina.session.graph import GraphitiTarget, group_of
from lamina.session.names import scope_of
from lamina.store.memory import MemoryStore
from lamina.store.ports.sessions import OutboxRow, SessionKey

ids = st.text("aB1_-/ü", min_size=1, max_size=8)


@given(st.tuples(ids, ids, ids), st.tuples(ids, ids, ids))
def test_no_two_users_share_a_group(one, other):
    groups = [group_of(tenant_id, scope_of(tenant, user)) for tenant_id, tenant, user in (one, other)]
    assert (groups[0] == groups[1]) == (one == other)
    assert all(group.replace("_", "").replace("-", "").isalnum() and group.isascii() for group in groups)


def test_a_plain_user_has_a_plain_group():
    assert group_of("local", scope_of("tenant_a", "user_1")) == "local__tenant_a__user_1"


@pytest.mark.filterwarnings("ignore")
def test_a_turn_is_one_episode_of_its_users_group(tmp_path):
    pytest.importorskip("graphiti_core")
    pytest.importorskip("kuzu")
    from graphiti_core.nodes import EpisodicNode

    (event,) = append(MemoryStore(), "I moved to Lisbon.", session="s")
    row = OutboxRow(
        id=1, place=SessionKey("acme", event.scope, "s"), sitting=1, event_id=event.id, created_at=NOON
    )
    target = GraphitiTarget(f"kuzu:{tmp_path / 'graph'}", None, None)  # type: ignore[arg-type] # nothing is embedded
    target.send(row, event)
    target.send(row, event)
    found = []

    async def look():
        found.extend(
            await EpisodicNode.get_by_group_ids(
                target._graphiti.driver, [group_of("acme", Scope(event.scope))]
            )
        )

    target._run(look())
    assert [(node.content, node.name) for node in found] == [("user: I moved to Lisbon.", event.id)]
    target.close()
