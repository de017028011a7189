"""The operation log: append, verify, fold operations into memories, erase a payload."""
