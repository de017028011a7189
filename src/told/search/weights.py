"""All weights of the session search; `python -m training.fusion` learns those of the sides."""

from __future__ import annotations

# bm25 weights of the columns project, asked, answered, steps, near, extra.
COLUMNS = (0.0, 1.0, 0.8, 0.4, 0.35, 1.0)
# The same for a turn whose answer has so many bytes: one word of many says little about the turn.
WORDY_COLUMNS = (0.0, 1.0, 0.2, 0.2, 0.35, 1.0)
WORDY = 1000

# What a turn's score is made of: each side is between 0 and 1, and a turn's own words count 1.
SIDES = ("words", "session", "meaning", "about", "time", "full", "speaker", "reply", "question")
# Where no turn has a vector, and where turns have.
WORDS_ONLY = (1.0, 0.55, 0.0, 0.0, 0.66, 0.41, 0.26, 0.54, -0.1)
WITH_MEANING = (1.0, 0.42, 0.85, 0.42, 1.11, 0.65, 0.29, 0.87, -0.17)

# Of a question that what is near in meaning answers: who asks for one or two wants these words.
FEWEST_WORDS = 3

# How much the best, second best … turn of a session say about the session.
SESSION_TURNS = (1.0, 0.5, 0.25)
# A session's place: its best turn, and its best turns together.
BEST, TOGETHER = 1.0, 0.6

FULL = 300  # bytes that are enough to say something
AROUND = 30 * 86_400_000  # ms beside a named time over which nearness fades, at most
