"""Write told into agents' files and take it back."""
