"""Kubernetes objects as frozen structs: only what kube-scheduler (v1.27.1 and v1.36) and the simulated controllers read.

`codec` turns JSON into objects and back, `defaults` does what an API server does to a new object, `quantity` and
`selectors` give meaning to the strings inside. Objects are never changed in place: use `msgspec.structs.replace`. `text_facts` is what a
copied text says about pods, claims and nodes, of which it has no objects.
"""
