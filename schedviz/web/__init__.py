"""The web server: REST under `/api/v1/`, a WebSocket for each session, and the pages. It stores commands, folds stored events and
never computes a schedule.
"""
