"""REST of rooms: one module for each thing that is there."""
