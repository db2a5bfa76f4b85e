"""`schedviz conformance`: compares the engine with recordings of the real scheduler, or with itself after restores of checkpoints."""
