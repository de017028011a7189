"""Commands that move memories: to other machines, to a team, in and out of told."""
