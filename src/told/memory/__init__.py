"""The policy of memory: what is worth keeping, what replaces what, and what is brought back when."""
