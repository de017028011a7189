"""Choose the few memories a prompt needs."""
