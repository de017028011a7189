"""The team server: REST, MCP over HTTP, workers, and the embedded PostgreSQL."""
