"""Sessions: what is stored of them, how commands reach an engine, and how what it did reaches a page.

The database is the only truth; Redis is a bell and a tail, and all of it may vanish at any time. The web uses
`models`, `create`, `inbox`, `history`, `frames`, `stream` and `details`, none of which imports the engine; `turn`, `importing` and
`replay` run in workers.
"""
