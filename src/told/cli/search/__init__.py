"""`told search`: find memories, sessions and checkpoints, and show them."""
