"""The scheduler's plugins, in upstream's folders. Upstream: framework/plugins"""
