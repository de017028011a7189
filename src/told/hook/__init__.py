"""Answer the hooks that agents call."""
