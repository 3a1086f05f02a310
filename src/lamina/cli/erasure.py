"""``lamina erasure``: looking at erasures of a folder, without a server."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from lamina.cli.group import Commands
from lamina.cli.options import Data, chosen_settings

__all__ = ["erasure_commands"]

erasure_commands = typer.Typer(cls=Commands, help="Look after erasures.", no_args_is_help=True)


@erasure_commands.command()
def verify(
    erasure_id: Annotated[str, typer.Argument(help="The erasure, erasure_….")],
    tenant: Annotated[
        str | None, typer.Option(help="Whose erasure it is; LAMINA_TENANT's otherwise.")
    ] = None,
    key_file: Annotated[
        Path | None,
        typer.Option(
            "--key-file", help="The key that signs the receipt; LAMINA_RECEIPT_KEY_FILE's otherwise."
        ),
    ] = None,
    data: Data = None,
) -> None:
    """Look again for all that an erasure took, and print the receipt as JSON; ends with 1 where something is left."""
    from lamina.forget.receipt_keys import ReceiptKey
    from lamina.forget.receipts import signed_receipt, verify_erasure
    from lamina.kernel.time import SystemClock
    from lamina.store.opening import open_store, require_store

    settings = chosen_settings(data=data, receipt_key_file=key_file)
    key = None if settings.receipt_key_file is None else ReceiptKey.of_file(settings.receipt_key_file)
    require_store(settings.data)
    with closing(open_store(settings)) as store:
        receipt = verify_erasure(store, tenant or settings.tenant, erasure_id, SystemClock().now())
    typer.echo((signed_receipt(receipt, key) if key else receipt).model_dump_json(indent=2))
    if not receipt.clean:
        raise typer.Exit(1)
