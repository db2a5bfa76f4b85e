"""`schedviz kit`: one folder with everything, for a room without a network."""
