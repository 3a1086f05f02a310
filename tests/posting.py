"""A process that sends messages until it is killed: eight senders at once, each its own in their order, under keys.

    python tests/posting.py DATA COUNT

It prints the number of each message that landed, after it did. Those of a process before it are sent again: their keys are known.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lamina.store.sqlite import SqliteStore
from mailing import Mail

SENDERS = 8


def main(data: Path, count: int) -> None:
    mail = Mail(data, store=SqliteStore(data))

    def send_all(sender: int) -> None:
        for number in range(sender, count, SENDERS):
            mail.send(f"peer-{sender}", "cy", body_md=str(number), idempotency_key=f"key-{number}")
            sys.stdout.write(f"{number}\n")
            sys.stdout.flush()

    with ThreadPoolExecutor(SENDERS) as pool:
        list(pool.map(send_all, range(SENDERS)))
    mail.store.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
