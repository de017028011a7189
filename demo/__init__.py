"""A made-up history of several agents in their real file formats, and a tour of told through it."""
