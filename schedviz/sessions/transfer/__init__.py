"""Creating sessions, and importing and exporting them: uploads, session files, traces, recordings, lesson drafts."""
