"""Write memories in formats of told and of others, and read them back."""
