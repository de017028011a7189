"""Hand-over notes: made from sessions, kept as Markdown files."""
