"""The scheduling framework: what a plugin is and sees (`interface`, `status`, `cycle_state`, `types`, `rows`), what runs plugins
(`runtime`), and the plugins themselves (`plugins`). Mirrors upstream's pkg/scheduler/framework."""
