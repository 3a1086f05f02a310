"""Weights of the ranking's signals.

Fitted by ``bench/fit_weights.py --prior 3`` on two development sets together, each with the same say: LoCoMo
(human chats of many sessions, five conversations, 760 questions) and LongMemEval (users and assistants, one
pool of 4,161 turns, 234 questions). Cross-validated turn@10 of the fit: 0.820 and 0.837, of stemmed BM25 alone
0.636 and 0.761.

One weight was then cut by hand: ``assistant_unasked`` from -3.5, because how rarely an assistant's turn is the
evidence is a habit of the set. Measured on the questions of the fit, turn@10 stays at 0.821 and goes from 0.837 to
0.836; the price is 0.006 of turn@5 of LongMemEval.

``time`` holds for questions that name one (105 and 41 of them); without it turn@10 is 0.814 and 0.815.
"""

DEFAULT: dict[str, float] = {
    "bm25_turn": 0.0,
    "bm25_window": 0.28,
    "bm25_session": 0.43,
    "maxsim_turn": 0.43,
    "maxsim_window": 0.77,
    "cosine": 0.05,
    "length": 0.09,
    "named_speaker": 2.4,
    "question_share": 0.16,
    "self_share": 0.73,
    "assistant_asked": 0.28,
    "assistant_unasked": -2.0,
    "time": 3.0,
}
