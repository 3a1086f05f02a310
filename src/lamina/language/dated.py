"""Things that are told apart by their day: in "the invoice from 3 October" the day says which invoice, not when to
act."""

from __future__ import annotations

from typing import Final

__all__ = ["DATED_THINGS", "OF_A_DAY"]

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
