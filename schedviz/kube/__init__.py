"""Kubernetes objects as frozen structs: what kube-scheduler (v1.27.1 and v1.36) reads of them, and nothing more.

`codec` turns JSON into objects and back, `defaults` does what an API server does to a new object, `quantity` and
`selectors` give meaning to the strings inside. Objects are never changed in place: use `msgspec.structs.replace`.
"""
