"""All weights of the session search; `python -m training.fusion` learns those of the sides."""

from __future__ import annotations

# bm25 weights of the columns project, asked, answered, steps, near, extra.
COLUMNS = (0.0, 1.0, 0.8, 0.4, 0.35, 1.0)
# The same for a turn whose answer has so many bytes: one word of many says little about the turn.
WORDY_COLUMNS = (0.0, 1.0, 0.2, 0.2, 0.35, 1.0)
WORDY = 1000

# What a turn's score is made of: each side is between 0 and 1, and a turn's own words count 1.
SIDES = (
    "words", "session", "meaning", "about", "time", "full", "speaker", "reply", "question", "covered",
    "session_covered",
)  # fmt: skip
# Where no turn has a vector, and where turns have; below each, what is added for a turn of full length.
WORDS_ONLY = (1.0, 0.87, 0.0, 0.0, 0.77, -0.17, 0.24, 1.51, -0.48, 0.47, 0.88)
WORDS_ONLY_FULL = (0.58, -0.2, 0.0, 0.0, 1.13, -0.06, 0.53, -0.36, 0.44, 0.78, -0.11)
WITH_MEANING = (1.0, 0.86, 0.77, 1.81, 1.57, 0.98, 0.2, 2.08, -0.58, 0.55, 1.42)
WITH_MEANING_FULL = (0.25, -1.01, 0.88, -0.46, 1.09, -0.11, 0.59, -0.51, 0.51, 0.74, -0.3)

# Of a question that what is near in meaning answers: who asks for one or two wants these words.
FEWEST_WORDS = 3

# How much the best, second best … turn of a session say about the session.
SESSION_TURNS = (1.0, 0.5, 0.25)
# A session's place: its best turn, its best turns together, and how like the best of all it is.
BEST, TOGETHER, KIN = 1.0, 0.77, 0.42

FULL = 300  # bytes that are enough to say something
AROUND = 30 * 86_400_000  # ms beside a named time over which nearness fades, at most
