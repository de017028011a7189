"""The four languages that agents speak with a model; each file reads a request and writes the answer."""
