"""English date and time expressions, read by rules: no model, no clock, no locale, no state.

``find_times`` reads running text, ``parse_window`` one phrase that must be a time window, ``question_window`` the time
a question asks about. The reference instant is always passed in. Layers, each importing only those before it: values,
calendar, lexicon, tokens, nodes, durations, numeric, dates, relative, anchored, clocks, moments, grammar, finder,
windows.
"""

from lamina.language.temporal.finder import each_time, find_times
from lamina.language.temporal.values import Grain, Kind, Period, TemporalMatch, UnparseableTemporal, Window
from lamina.language.temporal.windows import parse_window, question_window

__all__ = [
    "Grain",
    "Kind",
    "Period",
    "TemporalMatch",
    "UnparseableTemporal",
    "Window",
    "each_time",
    "find_times",
    "parse_window",
    "question_window",
]
