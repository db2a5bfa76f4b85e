"""How far people are in the lessons."""
