"""What other versions of the scheduler did, each switched on by a policy of the session.

v1.14's cache (`cache`) and priorities (`priorities`, run by `beside_score`), v1.18's preemption (`preemption`).
"""
