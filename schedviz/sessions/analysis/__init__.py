"""Analyses (explain, what-if, dump, compare, lesson drafts, recordings, pasted texts), which io workers compute for the web server."""
