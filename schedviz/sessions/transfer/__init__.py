"""Creating sessions, and moving them in and out: imports, session files, traces, recordings, lesson drafts."""
