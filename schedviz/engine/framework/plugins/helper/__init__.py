"""What several plugins need. Upstream: framework/plugins/helper"""
