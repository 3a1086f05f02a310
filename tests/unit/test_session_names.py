"""Ids of an orchestrator as scopes: reversible, and never two as one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lamina import limits
from lamina.session.names import decoded, encoded, names_of, scope_of, tenant_scope

ids = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1),
    st.text("ab-_64/:@ ", min_size=1),
    st.builds("b64-{}".format, st.text("abAB01-_=", max_size=8)),
).filter(lambda name: len(name.encode()) <= limits.PARTICIPANT_ID_BYTES_MAX)


@given(ids, ids)
def test_a_scope_gives_its_names_back(tenant: str, user: str) -> None:
    scope = scope_of(tenant, user)
    assert names_of(scope) == (tenant, user)
    assert tenant_scope(tenant).contains(scope)


@given(ids, ids)
def test_two_ids_never_meet(one: str, other: str) -> None:
    assert (encoded(one) == encoded(other)) == (one == other)
    assert decoded(encoded(one)) == one


def test_an_id_that_a_scope_can_hold_stays_as_it_is() -> None:
    assert scope_of("tenant_a", "user-1") == "org:tenant_a/user:user-1"
    assert scope_of("b64-x", "ü") == "org:b64-YjY0LXg/user:b64-w7w"
