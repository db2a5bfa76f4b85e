"""Behaviour of older scheduler versions, each enabled by a policy of the session.

v1.14's cache (`cache`) and priorities (`priorities`, run in addition to Score), v1.18's preemption (`preemption`).
"""
