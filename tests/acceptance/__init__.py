"""The portable acceptance tests of neoneye/agent-memory-atlas, run through told's public doors."""
