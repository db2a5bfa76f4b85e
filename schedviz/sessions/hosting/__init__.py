"""Hosting engines in an engine worker: the lease, slots, applying commands in slices, and committing each slice.

Also what starts this work again or limits it elsewhere: the sweeper, which runs beside all workers, `import_turns`, by which io workers
take imports in turn, and `steady_clock`, which all deletions by age ask.
"""
