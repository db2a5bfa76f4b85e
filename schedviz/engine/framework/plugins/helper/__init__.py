"""Code that several plugins share. Upstream: framework/plugins/helper"""
