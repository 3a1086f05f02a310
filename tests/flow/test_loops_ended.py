"""Which loop a word ends, puts off or leaves alone, in whole talks."""

from __future__ import annotations

from pathlib import Path

import pytest

from given import TENANT
from talks import Talk


@pytest.fixture
def talk(tmp_path: Path):
    talk = Talk(tmp_path)
    yield talk
    talk.store.close()


BOOK = "I need to book the B&B in Tenby."
CAMERA = "I need to order the bird camera by Friday."
BANK = "I need to call the bank."
DEPOSIT = "I have to pay the deposit for the new house by 21 November."
NOTICE = "I need to give notice for the electricity."
BILL = "I need to pay the electricity bill by Friday."
TOOTH = "remind me to ring the dentist tomorrow its about my uh wisdom tooth"
IBUPROFEN = "I take 400 mg of ibuprofen twice a day."
DENTIST = "I have a dentist appointment on Friday."


@pytest.mark.parametrize(
    "turns",
    [
        (BOOK, "B&B booked!"),
        (BOOK, "The B&B is booked."),
        (BOOK, "Ana booked the B&B for me."),
        (BOOK, "A: Did you book the B&B?", "yes"),
        (BOOK, "A: Did you book the B&B?", "yes, this morning"),
        (BANK, "A: Have you called the bank?", "yep done"),
        (BANK, "Called the bank today, all good"),
        ("I need to rotate the Stripe key.", "stripe key rotated"),
        ("Remind me to rotate the Stripe test key before the release.", "stripe key rotated"),
        ("TODO: write a postmortem for the OOM thing by Friday", "postmortem is written"),
        ("I'll add a lint rule against datetime.now() without tz tomorrow", "the lint rule is in"),
        ("I need to write a postmortem.", "postmortem is written, link in the wiki"),
        ("I'll add a lint rule tomorrow.", "the lint rule is in"),
        ("I have to pick up the dry cleaning.", "dry cleaning picked up, dog food bought"),
        ("I have to buy dog food for Biscuit.", "dry cleaning picked up, dog food bought"),
        ("I need to get Priya to look at my knee.", "Priya looked at my knee"),
        ("I need to send the rota to Marcus.", "I've sent Marcus the rota"),
        ("I need to buy oat milk.", "got the oat milk"),
        ("I need to put the bins out.", "I put the bins out"),
        ("I need to get the boiler fixed.", "boiler's fixed, new pump"),
        ("I'm waiting for the landlord to reply.", "the landlord's replied"),
        ("I need to call mum.", "booked the dentist and called mum"),
        ("Remind me to book the MOT.", "✅ book MOT"),
        ("The deposit is late. I'll email them.", "I emailed them"),
        ("I need to cancel yoga.", "I cancelled yoga"),
        (CAMERA, "scratch what I said about the camera, mum has one"),
        (CAMERA, "forget the camera"),
        (CAMERA, "I decided against the camera"),
        (CAMERA, "we're not getting the camera anymore"),
        (DENTIST, "the dentist cancelled"),
        (DENTIST, "my dentist appointment is cancelled"),
        (
            "I promised Maisie I'd knit her a digger jumper.",
            "never mind the jumper, I'm buying a ride-on digger",
        ),
        (
            "We decided to use optimistic locking for carts.",
            "scratch optimistic locking for carts, too many retries",
        ),
        (DEPOSIT, "Transferred the deposit today."),
        (DEPOSIT, "the deposit's transferred"),
        (NOTICE, "The electricity is done too, Tom phoned them."),
        ("I need to sign the contract for the gym.", "The gym is sorted."),
        (BILL, "Tom paid it."),
        (BILL, "Tom paid the bill."),
        (BILL, "I paid it."),
        (BILL, "A: Is the electricity bill settled?", "My brother paid it."),
        ("I need to buy milk.", "Tom bought the milk."),
        ("I need to collect the kids.", "picked up the kids"),
        ("I need to fetch the parcel.", "I collected the parcel"),
        ("I need to fix the bike.", "repaired the bike"),
        (TOOTH, "rang the dentist"),
        (TOOTH, "I phoned the dentist."),
        ("Remind me to call the bank about the mortgage for the new house in York.", "called the bank"),
        (IBUPROFEN, "I stopped taking ibuprofen."),
        (IBUPROFEN, "I don't take ibuprofen any more."),
        (IBUPROFEN, "I've stopped the ibuprofen"),
        ("I go running every morning.", "I stopped running."),
        ("I go running every morning.", "I no longer go running every morning."),
        ("I'm looking for a flat in York.", "I stopped looking for a flat"),
        ("Remind me to buy milk.", "A: OK.", "No, actually, don't."),
    ],
    ids=lambda turns: " / ".join(turns),
)
def test_it_is_over(talk, turns):
    talk.hear(*turns[:-1])
    (open_before,) = talk.open()
    talk.hear(turns[-1])
    assert open_before not in talk.open()
    talk.replays()


@pytest.mark.parametrize(
    "turns",
    [
        (BOOK, "I didn't book the B&B yesterday, fell asleep"),
        (BOOK, "MOT not booked yet"),
        (BOOK, "A: Did you book the B&B?", "not yet"),
        (BOOK, "A: Did you book the B&B?", "yes but they cancelled"),
        (BOOK, "A: Did you book a train?", "yes"),
        (BOOK, "A: Shall I help with the B&B?", "yes"),
        (BANK, "I called the bank but nobody picked up"),
        (BANK, "I called the bank. No answer."),
        (BANK, "the bank called"),
        (BANK, "I called the bank manager"),
        ("I need to buy milk.", "I bought milk chocolate"),
        ("I need to call mum.", "mum called"),
        ("I need to call mum.", "I called the bank about mum"),
        ("I need to call mum.", "called mum's neighbour"),
        ("I need to pay Ana.", "Ana paid me"),
        ("I need to send the report.", "the report is needed by Friday"),
        ("I need to look at the report.", "Priya looked at the report"),
        ("The deposit is late. I'll email them.", "I emailed Bob"),
        ("I need to buy mum a present.", "I don't need to call mum"),
        ("I need to pay the dentist.", "the dentist cancelled"),
        ("I need to get the heating fixed.", "the heating is off"),
        (CAMERA, "forget it"),
        ("I'll add a lint rule against prints tomorrow.", "the rule is in force"),
        ("I need to pay the rent.", "the rent agreement is in"),
        (CAMERA, "Ana says forget the camera"),
        (CAMERA, "scratch what I said about the jumper"),
        ("I go running every morning.", "A: Did you go running?", "yes"),
        (DEPOSIT, "Transferred the files today."),
        (DEPOSIT, "The deposit was mentioned again."),
        ("I need to buy tiles for the kitchen.", "The kitchen is done."),
        ("I need to ask Tom about the car.", "The car is done."),
        (NOTICE, "The gas is done."),
        (NOTICE, "The electricity is back."),
        (BILL, "Tom paid me."),
        (BILL, "Tom paid for it."),
        (BILL, "Tom might have paid it."),
        (BILL, "Nobody paid it."),
        (BILL, "A: How was dinner?", "Tom paid it."),
        (BILL, "Dinner was great. Tom paid it."),
        (BILL, "I bought it."),
        ("I need to call mum.", "Tom called mum."),
        ("I need to buy milk.", "Tom bought milk chocolate."),
        ("I need to buy a ring.", "I called the bank"),
        ("I need to ring the dentist.", "I bought the ring"),
        ("I need to pick a name for the cat.", "I collected the kids"),
        (IBUPROFEN, "I stopped taking aspirin."),
        (IBUPROFEN, "I stopped taking ibuprofen after lunch."),
        (IBUPROFEN, "Tom stopped taking ibuprofen."),
        (IBUPROFEN, "Ana says I stopped taking ibuprofen."),
        ("I go running every morning.", "I stopped running today because of my knee."),
        ("I drink tea every morning.", "I stopped taking sugar in my tea."),
        ("Remind me to buy milk.", "A: OK. Shall I add bread?", "No, don't."),
    ],
    ids=lambda turns: " / ".join(turns),
)
def test_it_is_not_over(talk, turns):
    talk.hear(turns[0])
    before = talk.open()
    assert len(before) == 1
    talk.hear(*turns[1:])
    assert before[0] in talk.open()


def test_a_pronoun_that_two_loops_may_be_meant_by_ends_neither(talk):
    talk.hear(BILL, "I need to pay the rent.")
    talk.hear("A: Hello.", "A: Hello again.", "Tom paid it.")
    assert len(talk.open()) == 2


def test_a_thing_that_two_loops_share_drops_neither(talk):
    talk.hear(CAMERA, "I need to charge the camera.", "forget the camera")
    assert len(talk.open()) == 2


@pytest.mark.parametrize(
    ("turns", "due"),
    [
        (("I need to call Marcus on Monday", "sorry, I meant Tuesday"), "2026-05-19"),
        (("I need to call Marcus on Monday", "actually make that Tuesday"), "2026-05-19"),
        (("I need to call Marcus on Monday. Sorry, I meant Tuesday.",), "2026-05-19"),
        (("I need to call Marcus on Monday", "A: Noted.", "no wait, make it Sunday"), "2026-05-17"),
        ((DENTIST, "my dentist appointment moved to Sunday"), "2026-05-17"),
        ((DENTIST, "thanks", "ok", "the appointment is now on Sunday"), "2026-05-17"),
        (("I need to book the MOT by Friday", "the MOT can wait until Sunday"), "2026-05-17"),
    ],
    ids=str,
)
def test_a_day_is_put_right(talk, turns, due):
    talk.hear(*turns)
    assert talk.due() == [due]
    (loop,) = talk.all()
    assert loop.text.endswith(f"due {due}")
    talk.replays()


@pytest.mark.parametrize(
    "turns",
    [
        ("I need to call Marcus on Monday", "thanks", "ok", "sorry, I meant Tuesday"),
        ("I need to call Marcus on Monday", "the concert moved to Tuesday"),
        ("I need to call Marcus on Monday", "sorry, see you on Tuesday"),
        ("I need to call Marcus on Monday", "Ana is now on holiday until Tuesday"),
        ("I need to call Marcus on Monday", "A: sorry, I meant Tuesday"),
    ],
    ids=str,
)
def test_other_days_leave_it_where_it_was(talk, turns):
    talk.hear(*turns)
    assert talk.due() == ["2026-05-18"]


def test_not_yet_says_again_what_was_promised(talk):
    talk.hear("I'll set up a standing order on payday.", "I haven't set up the standing order yet")
    assert talk.open() == ["Set up a standing order on payday"]
    talk.replays()


def test_an_offer_taken_up_rests_on_the_turn_that_took_it_and_names_the_offer(talk):
    offer = talk.say("Shall I remind you to call the bank tomorrow?", role="assistant")
    event_id = talk.say("yes please")
    (loop,) = talk.all()
    supports = talk.store.records.supports_of(TENANT, [loop.id])[loop.id]
    assert str(loop.object.value) == "Call the bank"
    assert {each.relation: each.source_id for each in supports} == {
        "opened_by": event_id,
        "offered_in": offer,
    }
    talk.replays()
