"""Bounds of one extraction. Text is untrusted: every loop over it ends at one of these."""

from typing import Final

TEXT_LENGTH_MAX: Final = 40_000
"""Characters read of one utterance. A chapter; longer documents are cut into several events before."""

SENTENCES_MAX: Final = 400
"""Sentences looked at in one utterance."""

SENTENCE_LENGTH_MAX: Final = 600
"""Characters of one sentence. Of 57,697 sentences of LoCoMo and LongMemEval 0.03 % are longer, and those are lists."""

PARSED_LENGTH_MAX: Final = 4_000
"""Characters parsed of one utterance, in sentences that may hold a claim: 0.5 to 1 s. Those behind are read by the
plain patterns."""

PARSED_SENTENCE_MIN: Final = 40
"""What a shorter sentence counts as: a parse costs something by the sentence too."""

TRIPLES_PER_SENTENCE_MAX: Final = 12
MENTIONS_MAX: Final = 400
CONJUNCTS_MAX: Final = 6
PHRASE_TOKENS_MAX: Final = 14
"""Words in a literal object. What is longer is a story, not a value; the event keeps it."""

PARSE_BATCH: Final = 64
"""Sentences handed to the parser at once: 3 times the throughput of single ones, flat beyond."""
