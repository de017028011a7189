"""Real MCP clients that list and call everything `told mcp` offers: `python -m lab.clients`."""
