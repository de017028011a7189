"""Remember, change, forget and list memories."""
