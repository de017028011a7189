"""Connect agents to told, and disconnect them."""
