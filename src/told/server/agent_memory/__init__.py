"""Answer the REST of agent-memory at its own paths and in its own shapes, if the user turns it on."""

from told.server.agent_memory import admin, deletion, lessons, observations, sessions, tools

ROUTERS = (sessions.router, observations.router, lessons.router, admin.router, deletion.router)
TOOLS_AND_GUIDE = tools.TOOLS, tools.INSTRUCTIONS
