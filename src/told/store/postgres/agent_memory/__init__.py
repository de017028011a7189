"""The tables behind agent-memory's REST: projects, sessions, observations, lessons and sent tool calls."""
