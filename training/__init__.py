"""Train the weights that the package ships."""
