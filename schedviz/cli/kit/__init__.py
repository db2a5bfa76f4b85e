"""`schedviz kit`: a self-contained folder for machines without a network."""
