"""The REST API of rooms, one module per resource."""
