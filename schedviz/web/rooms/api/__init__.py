"""REST of rooms, one module per resource."""
