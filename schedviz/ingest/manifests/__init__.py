"""Reads Kubernetes objects in JSON and YAML, split into objects before they are parsed."""
