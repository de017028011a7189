"""The long-running faces of told, with one guard in front of all of them."""
