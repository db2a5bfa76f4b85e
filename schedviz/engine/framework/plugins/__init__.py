"""The scheduler's plugins, each in upstream's folder. Upstream: framework/plugins"""
