"""``python -m lamina``: the command line without an installed script."""

from lamina.cli import main

main()
