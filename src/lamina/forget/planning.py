"""A plan for erasing a scope, from what the store holds now (seed 002, 11.3 and 11.4).

The owner of a scope is the person whom a ``user:`` path names: their events in other scopes are erased too, and workspaces that
cite their events and that nobody else owns go as a whole. Of any other scope its own events alone are erased.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from lamina.forget.counting import Area, ErasurePlan, demoted_of, plan_of, resting_alone
from lamina.kernel.erasure_rules import ErasureRules
from lamina.kernel.events import Party
from lamina.kernel.names import decoded
from lamina.kernel.records import Belief, Layer, layer_of
from lamina.kernel.relay import RELAY_SCOPE
from lamina.kernel.scopes import Scope
from lamina.language.entities import entity_id, normalise_name
from lamina.store.ports.citations import ErasureCandidate
from lamina.store.ports.documents import Change
from lamina.store.ports.erasures import ErasedPlace, ErasureFigures, ErasureLine, LineKind, TouchedScope
from lamina.store.ports.registry import ScopeState
from lamina.store.ports.store import Store
from lamina.store.ports.traces import About, Owned

__all__ = ["PlannedErasure", "Planner", "RulesOf", "Unnaming", "actors_of", "place_of_erasure"]

_WORKSPACE: Final = "ws"

RulesOf = Callable[[str], ErasureRules]
"""What is laid down for a tenant's erasures, by its id."""

Unnaming = Callable[[str, Collection[str]], Sequence[Change]]
"""The documents of a tenant in which the server itself names some paths, as they are without these."""


def _about_nobody(tenant_id: str, actors: Sequence[str]) -> Collection[str]:  # noqa: ARG001 - the shape of ``About``
    return ()


def actors_of(scope: Scope) -> tuple[str, ...]:
    """The actor ids of the person whose whole memory a path is; none for a part of it, and for every other path.

    >>> actors_of(Scope("org:acme/user:alice")), actors_of(Scope("user:alice/ws:trip"))
    (('user:alice',), ())
    """
    innermost = scope.segments[-1]
    if scope.person != innermost:
        return ()
    name = decoded(innermost.removeprefix("user:"))
    return tuple(dict.fromkeys((innermost, f"user:{name}")))


def place_of_erasure(erasure_id: str, scope: Scope, rules: ErasureRules) -> ErasedPlace:
    """What the erasure of a scope hides from its beginning."""
    held = tuple(hold.scope for hold in rules.holds)
    return ErasedPlace(erasure_id, (scope,), held, actors_of(scope))


@dataclass(frozen=True, slots=True)
class PlannedErasure:
    """A plan, the scopes that go as a whole, its figures, the documents of the person, and the ``residue``: what others' memories say of
    them, which is theirs and stays."""

    area: Area
    plan: ErasurePlan
    figures: ErasureFigures
    owned: Owned
    residue: tuple[tuple[str, Scope], ...] = ()

    def lines(self) -> list[ErasureLine]:
        """The whole manifest."""
        told = [(LineKind.DOCUMENT, self.owned.paths), (LineKind.SHARED, self.owned.shared_paths)]
        documents = [ErasureLine(kind, path, RELAY_SCOPE) for kind, paths in told for path in paths]
        said = [ErasureLine(LineKind.RESIDUE, id_, scope) for id_, scope in self.residue]
        return sorted([*self.plan.lines(), *documents, *said])


class Planner:
    """Makes plans. It only reads."""

    def __init__(self, store: Store, about: About | None = None) -> None:
        self._store = store
        self._about = about or _about_nobody

    def owned(self, tenant_id: str, actors: Sequence[str], held: Collection[Scope] = ()) -> Owned:
        """The documents that are about a person or that they alone wrote, and those that they wrote together with others. None where a
        hold keeps the scope in which all documents are."""
        if not actors:
            return Owned()
        owned = self._store.traces.owned(tenant_id, actors, self._about(tenant_id, actors))
        if any(each.contains(RELAY_SCOPE) for each in held):
            return replace(owned, paths=(), shared_paths=(), event_ids=())
        return owned

    def of_documents(self, tenant_id: str, owned: Owned) -> set[str]:
        """The records of the scope of documents for which nothing speaks but what tells of these."""
        citations = self._store.citations.above(tenant_id, owned.event_ids)
        inside = {each.record_id for each in citations if each.scope == RELAY_SCOPE}
        return resting_alone(set(owned.event_ids), citations) & inside

    def plan(self, tenant_id: str, scope: Scope, rules: ErasureRules) -> PlannedErasure:
        """The plan of erasing a scope, as things stand."""
        actors = actors_of(scope)
        area = Area((scope,), tuple(hold.scope for hold in rules.holds))
        owned = self.owned(tenant_id, actors, area.held)
        taken = self.of_documents(tenant_id, owned)
        told = self._store.log.get(tenant_id, owned.event_ids).values()
        authored = [ErasureCandidate(event.id, event.scope, event.position) for event in told]
        authored += self._store.citations.authored(tenant_id, actors) if actors else []
        while True:
            candidates = self._candidates(tenant_id, area, authored)
            citations = self._store.citations.above(tenant_id, list(candidates))
            plan = plan_of(area, candidates.values(), citations, taken=taken)
            states = self._states(tenant_id, area, plan, candidates)
            alone = [path for path in _alone(states, actors) if path not in area.roots]
            if not alone:
                plan = replace(plan, demoted=self._demoted(tenant_id, plan))
                touched = _touched(area, plan, candidates, states, actors)
                residue = self._residue(tenant_id, area, plan, actors)
                figures = replace(self._figures(tenant_id, area, plan, touched), residue=len(residue))
                holds = [hold for hold in rules.holds if _bears_on(hold.scope, area, plan)]
                figures = replace(figures, holds=tuple(hold.id for hold in holds))
                return PlannedErasure(area, plan, figures, owned, residue)
            area = replace(area, roots=(*area.roots, *alone))

    def _residue(
        self, tenant_id: str, area: Area, plan: ErasurePlan, actors: Sequence[str]
    ) -> tuple[tuple[str, Scope], ...]:
        names = {Party.of(actor).display_name for actor in actors}
        entities = [entity_id(tenant_id, normalise_name(name)) for name in sorted(names)]
        found = self._store.citations.naming(tenant_id, entities) if entities else []
        resting = set(plan.resting)
        return tuple((id_, scope) for id_, scope in found if id_ not in resting and not area.covers(scope))

    def _demoted(self, tenant_id: str, plan: ErasurePlan) -> tuple[str, ...]:
        ids = [id_ for id_ in plan.resting if layer_of(id_) is Layer.BELIEFS]
        standing = self._store.records.get(tenant_id, ids).values()
        beliefs = [each for each in standing if isinstance(each, Belief) and each.recorded_to is None]
        facts = {counted.source_id for each in beliefs for counted in each.evidence}
        supports = self._store.records.supports_of(tenant_id, facts)
        going = {*plan.deleted, *plan.redacted}
        sources = {edge.source_id for edges in supports.values() for edge in edges}
        events = self._store.log.get(tenant_id, sources | facts)
        return demoted_of(beliefs, supports, events.get, going)

    def _candidates(
        self, tenant_id: str, area: Area, authored: Sequence[ErasureCandidate]
    ) -> dict[str, ErasureCandidate]:
        inside = [each for root in area.roots for each in self._store.citations.within(tenant_id, root)]
        found = {each.id: each for each in (*inside, *authored)}
        return dict(sorted(found.items(), key=lambda item: item[1].position))

    def _states(
        self, tenant_id: str, area: Area, plan: ErasurePlan, candidates: Mapping[str, ErasureCandidate]
    ) -> dict[Scope, ScopeState | None]:
        """The scopes outside that the plan touches, each with the registration that governs it."""
        touched = {plan.scopes[id_] for id_ in plan.resting}
        touched |= {
            each.scope
            for each in candidates.values()
            if each.scope != RELAY_SCOPE and not area.holds(each.scope)
        }
        touched = {scope for scope in touched if not area.roots[0].contains(scope)}
        known = self._store.registry.states(
            tenant_id, {path for scope in touched for path in scope.lineage()}
        )
        found: dict[Scope, ScopeState | None] = {}
        for scope in sorted(touched):
            states = [known[path] for path in scope.lineage() if path in known]
            governing = next((state for state in states if state.registered), None)
            found[scope] = governing or (states[0] if states and states[0].path == scope else None)
        return found

    def _figures(
        self, tenant_id: str, area: Area, plan: ErasurePlan, touched: Sequence[TouchedScope]
    ) -> ErasureFigures:
        counted: dict[Layer, set[str]] = {layer: set() for layer in Layer}
        for root in area.roots:
            for layer, records in self._store.citations.records_within(tenant_id, root).items():
                counted[layer] |= {id_ for id_, scope in records if area.covers(scope)}
        for id_ in plan.resting:
            resting = layer_of(id_)
            if resting is not None:
                counted[resting].add(id_)
        return ErasureFigures(
            events=len(plan.deleted) + len(plan.redacted),
            episodes=len(counted[Layer.EPISODES]),
            facts=len(counted[Layer.FACTS]),
            beliefs=len(counted[Layer.BELIEFS]),
            understanding=len(counted[Layer.UNDERSTANDING]),
            delete=len(plan.deleted),
            redact=len(plan.redacted),
            held=len(plan.held),
            demote=len(plan.demoted),
            touched=tuple(touched),
        )


def _bears_on(hold: Scope, area: Area, plan: ErasurePlan) -> bool:
    """Whether a hold keeps a part of the erased scopes, or an event of the person elsewhere."""
    return any(hold.contains(root) or root.contains(hold) for root in area.roots) or any(
        hold.contains(plan.scopes[id_]) for id_ in plan.held
    )


def _owners(state: ScopeState | None) -> tuple[str, ...]:
    if state is None:
        return ()
    if not state.registered:
        return (state.created_by,)
    return tuple(sorted(actor for actor, role in state.members.items() if role == "owner"))


def _alone(states: Mapping[Scope, ScopeState | None], actors: Sequence[str]) -> list[Scope]:
    """The registered workspaces that nobody but the person owns (11.4). What nobody registered is anybody's to write to, and stays."""
    if not actors:
        return []
    registered = [state for state in states.values() if state is not None and state.registered]
    owned = [state for state in registered if set(_owners(state)) <= set(actors)]
    return sorted({state.path for state in owned if state.path.type == _WORKSPACE})


def _touched(
    area: Area,
    plan: ErasurePlan,
    candidates: Mapping[str, ErasureCandidate],
    states: Mapping[Scope, ScopeState | None],
    actors: Sequence[str],
) -> list[TouchedScope]:
    events: dict[Scope, set[str]] = {scope: set() for scope in states}
    for event_id, records in plan.cited.items():
        for record_id in records:
            events.setdefault(plan.scopes[record_id], set()).add(event_id)
    for each in candidates.values():
        if each.scope in events:
            events[each.scope].add(each.id)
    return [
        TouchedScope(
            scope,
            len(events[scope]),
            tuple(owner for owner in _owners(states.get(scope)) if owner not in actors),
            area.covers(scope),
        )
        for scope in sorted(events)
        if events[scope]
    ]
