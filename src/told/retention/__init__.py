"""Archive unused memories and keep within the disk limit."""
