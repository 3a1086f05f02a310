"""Words of days. Of things that are told apart by their day, as "the invoice from 3 October", it says which one and not when to act."""

from __future__ import annotations

from typing import Final

from lamina.language.wordsets import word_set

__all__ = ["DATED_THINGS", "OF_A_DAY", "is_time_word"]

DATED_THINGS: Final = (
    r"invoices?|bills?|receipts?|letters?|e-?mails?|mails?|messages?|texts?|reports?|photos?|pictures?|orders?|"
    r"statements?|payslips?|meetings?|minutes|notes|calls?|sessions?|"
    r"tickets?|deliver(?:y|ies)|parcels?|articles?|episodes?|newsletters?|recordings?|videos?|papers?|results?|"
    r"claims?|transactions?|payments?|purchases?|conversations?|chats?|"
    r"posts?|leftovers|homework|lectures?|fines?|quotes?|contracts?|prescriptions?"
)
"""Alternatives of a pattern."""
OF_A_DAY: Final = r" (?:dated )?(?:from|of)"
"""What stands between such a thing and its day."""
_TIME_WORDS = word_set(
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun today "
    "tomorrow yesterday tonight now lately recently last next this morning afternoon evening night week weekend "
    "month year january february march april may june july august september october november december"
)


def is_time_word(text: str) -> bool:
    """Whether the words only name a day or a time, which is when something holds and never what."""
    return all(word.strip(".,").casefold() in _TIME_WORDS for word in text.split())
