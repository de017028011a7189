"""Read the memories of other tools, to move to told."""
