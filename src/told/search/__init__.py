"""Query analysis and ranking: pure functions over candidates."""
