"""Weights of the ranking's signals.

Fitted by ``bench/fit_weights.py --prior 3`` on two development sets together, each with the same say: LoCoMo
(human chats of many sessions, five conversations, 760 questions) and LongMemEval (users and assistants, one
pool of 4,161 turns, 234 questions). Cross-validated turn@10 of the fit: 0.818 and 0.811.

Two weights were then cut by hand: ``assistant_unasked`` from -3.5, because how rarely an assistant's turn is
the evidence is a habit of the set, and ``time`` from 2.8, because few questions of the sets name a date with
its year. Measured on the questions of the fit, turn@10 goes from 0.818 to 0.817 and stays at 0.816; the price
is turn@5 and turn@20 of LongMemEval, each 0.008 lower.
"""

DEFAULT: dict[str, float] = {
    "bm25_turn": 0.0,
    "bm25_window": 0.29,
    "bm25_session": 0.43,
    "maxsim_turn": 0.43,
    "maxsim_window": 0.76,
    "cosine": 0.06,
    "length": 0.09,
    "named_speaker": 2.4,
    "question_share": 0.14,
    "self_share": 0.73,
    "assistant_asked": 0.27,
    "assistant_unasked": -2.0,
    "time": 2.0,
}
