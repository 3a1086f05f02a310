"""``python -m lamina_auth``."""

from lamina_auth.cli import main

main()
