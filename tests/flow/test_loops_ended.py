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
        (BOOK, "A: Did you book the B&B?", "yes"),
        (BOOK, "A: Did you book the B&B?", "yes, this morning"),
        (BANK, "A: Have you called the bank?", "yep done"),
        (BANK, "Called the bank today, all good"),
        ("I need to send the rota to Marcus.", "I've sent Marcus the rota"),
        ("I need to buy oat milk.", "bought the oat milk"),
        ("I need to put the bins out.", "I put the bins out"),
        ("I need to get the boiler fixed.", "boiler's fixed, new pump"),
        ("I'm waiting for the landlord to reply.", "the landlord's replied"),
        ("I need to call mum.", "booked the dentist and called mum"),
        ("The deposit is late. I'll email them.", "I emailed them"),
        ("I need to cancel yoga.", "I cancelled yoga"),
        (CAMERA, "scratch what I said about the camera, mum has one"),
        ("I'll book flights tonight", "flights booked. 14 to 17 May"),
        ("I need to pay the rent by Friday.", "the rent's paid now"),
        ("I need to send the photos by Sunday.", "photos are sent"),
        ("I need to find a dog sitter.", "found one!"),
        ("I have to finish the tax return by Friday.", "tax return is submitted!!"),
        ("ok I'll do receipts tuesday.", "receipts sorted. gym was closed"),
        ("I'll sew the hole myself.", "refund arrived. and I sewed it, looks like new"),
        ("I need to remove redis.", "redis is gone now"),
        ("I'm training for a triathlon.", "broke my wrist. no triathlon this year"),
        (CAMERA, "forget the camera"),
        (CAMERA, "I decided against the camera"),
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
        (BILL, "I paid it."),
        ("I need to collect the kids.", "picked up the kids"),
        ("I need to fetch the parcel.", "I collected the parcel"),
        ("I need to fix the bike.", "repaired the bike"),
        (TOOTH, "rang the dentist"),
        (TOOTH, "I phoned the dentist."),
        ("Remind me to call the bank about the mortgage for the new house in York.", "called the bank"),
        (IBUPROFEN, "I stopped taking ibuprofen."),
        (IBUPROFEN, "I've stopped the ibuprofen"),
        ("I go running every morning.", "I stopped running."),
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
        ("I need to pay the electricity bill.", "I paid the water bill."),
        ("I need to buy a gift for Tom.", "I bought a gift for Ann."),
        ("I need to send the report to Ann.", "I sent the report to Tom."),
        ("I need to book a flight to Rome.", "I booked a flight to Paris."),
        ("I need to book a flight to Rome.", "I booked the hotel in Rome."),
        ("I need to book a flight to Rome.", "the flight to Paris is booked"),
        ("I need to fix the sink.", "the car's fixed now"),
        ("I need to pay the tax.", "tax return is submitted"),
        ("I need to clean the kitchen.", "bathroom done"),
        ("I need to call Tom.", "Tom was called a hero"),
        ("I need to call Bob and Ana.", "I called Bob."),
        ("I need to buy milk and eggs.", "I bought eggs."),
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
        ("I need to call mum.", "mum replied to my text"),
        ("I need to return the shoes.", "the shoes came"),
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


def test_a_talk_that_two_may_have_had_ends_neither(talk):
    talk.hear(TOM, "I have to talk to Leonie on Monday.")
    talk.say("We talked.", session="t")
    assert len(talk.open()) == 2


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


MOULD = "I have to call the landlord about the mould before Friday."
PAYSLIPS = "I should send them my last three payslips tonight."
TOM = "I'm going to talk to Tom on Friday."
PYTHON = "We need to upgrade to Python 3.12 by 25 September."
LEGAL = "I need to get the contract to legal by 15 September."
ANIL = "I have to send Anil the GDPR documents."
TALK = "I should prepare a case presentation for it by Friday."
RUN = "I run three times a week."
MEDITATE = "I meditate every morning."


@pytest.mark.parametrize(
    "turns",
    [
        ("I need to return the two library books.", "I returned the library books early on Monday."),
        (TOM, "I spoke to Tom."),
        ("We need to speak with the neighbours.", "we talked to the neighbours"),
        (PYTHON, "The Python 3.12 upgrade is merged."),
        (PYTHON, "upgrade to Python 3.12 is done"),
        ("I run three times a week.", "I stopped running for now, my knee is bad."),
        (RUN, "I've stopped running for the time being."),
    ],
    ids=lambda turns: " / ".join(turns),
)
def test_it_is_told_to_be_over_in_other_words(talk, turns):
    talk.hear(*turns[:-1])
    (open_before,) = talk.open()
    talk.hear(turns[-1])
    assert open_before not in talk.open()


@pytest.mark.parametrize(
    "turns",
    [
        (MOULD, "Landlord: done with him, honestly."),
        (MOULD, "Landlord: not done."),
        (MOULD, "landlord: done?"),
        (MOULD, "Landlord: half done"),
        (MOULD, "Landlord: done tomorrow."),
        (MOULD, "Mould: painted over it again."),
        (MOULD, "Landlady: done."),
        (MOULD, "Landlord: done. I sent you the contract."),
        (MOULD, "Landlord: done.\nAna: thanks"),
        (MOULD, "> Landlord: done."),
        (MOULD, "“Landlord: done.”"),
        (MOULD, "[Bob, 12:01] Landlord: done."),
        (MOULD, "Bob (he/him): landlord done"),
        (MOULD, "Bob: called the landlord."),
        (MOULD, "Boss: done. Called the landlord."),
        (MOULD, "Please summarise this. Landlord: done."),
        (MOULD, "Note: done is better than perfect."),
        ("I need to buy tiles for the kitchen.", "Kitchen: done."),
        ("I need to write the report by Friday.", "Report: Tom's is done."),
        ("I need to write the report by Friday.", "Budget report: done."),
        ("I need to pay the gas bill.", "Gas bill: received."),
        ("I need to buy a ticket for the presentation.", "The presentation is finished."),
        (TOM, "Leonie came over. We talked."),
        (TOM, "A: How was dinner with your sister?", "We talked."),
        (TOM, "A: How is Leonie? You wanted to see her and Tom.", "We talked."),
        (TOM, "I saw Leonie after Tom had left.", "We talked."),
        (TOM, "Leonie and I talked."),
        (TOM, "We talked about Tom."),
        (TOM, "We talked to Leonie."),
        (TOM, "Tom and Leonie talked."),
        (TOM, "We haven't talked."),
        (TOM, "Tom talked."),
        (TOM, "Tom and I talked about talking on Friday, didn't work out."),
        ("I need to call Tom.", "Tom and I met in 2019."),
        (PYTHON, "The Python 3.11 patch is merged."),
        (PYTHON, "The Django upgrade is merged."),
        (LEGAL, "The contract is with Tom."),
        (LEGAL, "The contract is still with me."),
        (LEGAL, "Is the contract with legal?"),
        (LEGAL, "The contract isn't with legal yet."),
        ("I need to get the contract back from legal.", "The contract is with legal."),
        ("I need to read the contract.", "The contract is with legal."),
        ("I need to sign the contract with Acme.", "The contract with Acme is with legal."),
        (ANIL, "Anil is off to Spain."),
        (ANIL, "The invoices are off to Anil."),
        (ANIL, "The documents are off to Priya."),
        (RUN, "I stopped running for a minute to tie my shoes."),
        (RUN, "Tom stopped running for now."),
        (RUN, "I stopped smoking for now."),
        (RUN, "My phone didn't survive the run."),
        (MEDITATE, "The meditation app didn't survive the update."),
        ("I check my phone every morning.", "My phone didn't survive the fall."),
        (MEDITATE, "My tomatoes didn't survive September."),
        ("I need to get the heating fixed.", "The heating is off."),
        ("We're going to Iceland in November.", "The heating is off."),
        ("We're going to Iceland in November.", "Tom is off to Iceland."),
        ("We're going to Iceland in November.", "Greenland is off."),
        ("I need to call Iceland.", "Iceland is off."),
    ],
    ids=lambda turns: " / ".join(turns),
)
def test_words_like_those_that_end_something_else_leave_it_open(talk, turns):
    talk.hear(*turns[:-1])
    (open_before,) = talk.open()
    talk.hear(turns[-1])
    assert open_before in talk.open()


@pytest.mark.parametrize(
    ("turns", "due"),
    [
        (("I need to call Marcus on Monday", "We moved it to Tuesday."), "2026-05-19"),
        (("I need to call Marcus on Monday", "had to push it back to Sunday"), "2026-05-17"),
        (
            ("I need to call Marcus on Monday", "thanks", "ok", "Marcus is ill. I've moved it to Tuesday."),
            "2026-05-19",
        ),
    ],
    ids=str,
)
def test_it_is_moved(talk, turns, due):
    talk.hear(*turns)
    assert talk.due() == [due]
    talk.replays()


@pytest.mark.parametrize(
    "turns",
    [
        ("I need to call Marcus on Monday", "The concert is late. They moved it to Tuesday."),
        ("I need to call Marcus on Monday", "ok", "thanks", "The concert is late. They moved it to Tuesday."),
        ("I need to call Marcus on Monday", "I might move it to Tuesday."),
        ("I need to call Marcus on Monday", "I haven't moved it to Tuesday."),
        ("I need to call Marcus on Monday", "I moved the sofa on Tuesday."),
        ("I need to call Marcus on Monday", "ok", "thanks", "Moved it to Tuesday."),
        ("I need to call Marcus on Monday", "Did they move it to Tuesday?"),
    ],
    ids=str,
)
def test_another_it_is_moved(talk, turns):
    talk.hear(*turns)
    assert talk.due() == ["2026-05-18"]
