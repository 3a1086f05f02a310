"""The name of a user in the place of an id that is nobody's: where they are who is meant, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from given import append, belief, concept, episode, fact, loop
from lamina.kernel.events import Party
from lamina.kernel.records import ObjectValue, Subject
from lamina.kernel.time import SECOND_US
from lamina.recall.naming import Called
from lamina.recall.render import line_of
from lamina.store.memory import MemoryStore

IDS = ["7", "90", "2026", "U 4471", "Local"]
JUNE = 1_780_315_200 * SECOND_US
"""2026-06-01T12:00:00Z."""

pytestmark = pytest.mark.parametrize("stored", IDS)


def called(stored: str, name: str | None = "Ana") -> Called:
    return Called(stored, True, lambda: name)


def literal(text: str) -> ObjectValue:
    return ObjectValue("literal", text, "string")


def test_a_fact_is_about_the_user_and_its_amounts_and_dates_stay(stored: str) -> None:
    told = fact(
        subject=Subject("ent_u", stored),
        object=literal(f"{stored} mg at {stored}"),
        text=f"{stored} takes {stored} mg at {stored}",
        valid_from=JUNE,
    )
    assert line_of(told, [], called=called(stored)) == f"Ana takes {stored} mg at {stored} (since 2026-06-01)"
    assert line_of(told, [], called=called(stored, None)).startswith(f"User takes {stored} mg at {stored} (")


def test_what_the_user_has_is_theirs(stored: str) -> None:
    dose = fact(
        subject=Subject("ent_d", f"{stored}'s dose"),
        object=literal(f"{stored} mg"),
        text=f"{stored}'s dose is {stored} mg",
    )
    assert line_of(dose, [], called=called(stored)).startswith(f"Ana's dose is {stored} mg (")


def test_a_fact_may_name_the_user(stored: str) -> None:
    known = fact(
        subject=Subject("ent_b", "Bo"),
        object=ObjectValue("entity", id="ent_u", name=stored),
        text=f"Bo has known {stored} since {stored}",
    )
    assert line_of(known, [], called=called(stored)).startswith(f"Bo has known Ana since {stored} (")


def test_what_has_the_same_letters_in_its_name_keeps_them(stored: str) -> None:
    works = fact(
        subject=Subject("ent_u", stored),
        object=ObjectValue("entity", id="ent_m", name=f"{stored} Motors"),
        text=f"{stored} works at {stored} Motors",
    )
    street = fact(
        subject=Subject("ent_s", f"{stored} Baker Street"),
        object=literal("old"),
        text=f"{stored} Baker Street is old",
    )
    assert line_of(works, [], called=called(stored)).startswith(f"Ana works at {stored} Motors (")
    assert line_of(street, [], called=called(stored)).startswith(f"{stored} Baker Street is old (")


def test_a_quotation_in_a_fact_stays(stored: str) -> None:
    says = fact(
        subject=Subject("ent_u", stored),
        object=literal(f'"{stored}\'s room"'),
        text=f'{stored} labelled it "{stored}\'s room"',
    )
    assert line_of(says, [], called=called(stored)).startswith(f'Ana labelled it "{stored}\'s room" (')


def test_a_belief_and_a_loop_are_about_the_user(stored: str) -> None:
    weighs = belief(
        subject=Subject("ent_u", stored),
        predicate="weighs",
        object=ObjectValue("literal", stored, "quantity", "kg"),
    )
    assert line_of(weighs, [], called=called(stored)).startswith(f"not: Ana weighs {stored} kg (")
    text = f"{stored} has an open commitment: buy {stored} eggs, due 2026-06-01"
    opened = loop(subject=Subject("ent_u", stored), object=literal(f"buy {stored} eggs"), text=text)
    assert line_of(opened, [], called=called(stored)).startswith(
        f"Ana has an open commitment: buy {stored} eggs, due 2026-06-01 ("
    )


def test_an_episode_has_its_speaker_named_and_their_words_as_they_were(stored: str) -> None:
    held = episode(
        name=f"{stored}, locker (2026-06-01)",
        summary=f"{stored}: My PIN is {stored} {stored} 1. Bo: It says {stored}: shut! {stored}: {stored}: yes.",
    )
    assert line_of(held, [], called=called(stored)) == (
        f"{stored}, locker (2026-06-01): "
        f'"Ana: My PIN is {stored} {stored} 1. Bo: It says {stored}: shut! Ana: {stored}: yes."'
    )


def test_a_concept_of_the_user_has_their_name(stored: str) -> None:
    sentences = f"{stored} has {stored} cats. {stored}'s dose is {stored} mg. {stored} lives at no. {stored}."
    worded = f"Ana has {stored} cats. Ana's dose is {stored} mg. Ana lives at no. {stored}."
    work = concept(name=f"{stored}: work", summary=sentences)
    assert line_of(work, [], called=called(stored)) == f"Ana: work: {worded}"
    assert line_of(replace(work, name=stored), [], called=called(stored)) == f"Ana: {worded}"
    of_others = concept(name=f"{stored} Motors", summary=f"{stored} Motors is in Phoenix.")
    assert line_of(of_others, [], called=called(stored)) == f"{stored} Motors: {stored} Motors is in Phoenix."


def test_who_speaks_is_named_and_not_what_they_say(stored: str) -> None:
    (event,) = append(MemoryStore(), f"My PIN is {stored}.")
    said = replace(event, observed_actor=Party("user:x", "user", stored))
    assert line_of(said, [], called=called(stored)).endswith(f' Ana: "My PIN is {stored}."')
    other = replace(event, observed_actor=Party("user:y", "user", f"{stored} Motors"))
    assert f'{stored} Motors: "' in line_of(other, [], called=called(stored))
