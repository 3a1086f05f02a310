"""The codes of receipts: what is said of an erasure once it was looked after."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lamina.catalogue.entries import CLIENTS, ErrorCode

__all__ = ["CODES"]

CODES: Final[Mapping[str, ErrorCode]] = {
    "INVALID_RECEIPT_KEY": ErrorCode(
        "Invalid",
        CLIENTS,
        "The key that receipts of erasures are signed with cannot be read, or is no Ed25519 private key in PEM without a passphrase. "
        "No receipt was written.",
        hint="make one with: openssl genpkey -algorithm ed25519 -out receipt.pem",
    ),
}
