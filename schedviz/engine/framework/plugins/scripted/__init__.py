"""Our own plugin, off by default: it answers what its arguments say."""
