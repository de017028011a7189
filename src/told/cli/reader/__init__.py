"""Run the reader, and say which one is on."""
