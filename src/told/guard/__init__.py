"""All that hostile input must pass: redaction, fencing, sanitising, safe paths, limits."""
