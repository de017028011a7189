"""Find what a message teaches."""
