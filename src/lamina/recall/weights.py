"""Weights of the ranking's signals.

Fitted by ``bench/fit_weights.py`` on two development sets together, each with the same say: LoCoMo (human
chats of many sessions, five conversations) and LongMemEval (users and assistants, one pool of turns).
"""

DEFAULT: dict[str, float] = {
    "bm25_turn": 0.0,
    "bm25_window": 0.29,
    "bm25_session": 0.43,
    "maxsim_turn": 0.41,
    "maxsim_window": 0.77,
    "cosine": 0.06,
    "length": 0.09,
    "named_speaker": 2.5,
    "question_share": 0.13,
    "self_share": 0.67,
    "assistant_asked": 0.35,
    "assistant_unasked": -2.0,
    "time": 2.0,
}
