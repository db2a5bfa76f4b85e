"""The scheduling framework: the interface of plugins and what they see (`interface`, `status`, `cycle_state`, `types`, `rows`), the code
that runs plugins (`runtime`), and the plugins (`plugins`). Mirrors upstream's pkg/scheduler/framework.
"""
