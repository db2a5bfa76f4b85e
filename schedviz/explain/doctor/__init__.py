"""Doctor: whether API objects, cache, snapshot and a SIGUSR2 dump agree, value by value, and what is likely behind a difference.

Upstream's comparer looks at names of nodes and uids of pods. Here amounts, nominations, ghosts and the queue are compared too. What
passes by itself (an assumed pod, a nominated one whose victims go) and what only looks wrong is a note and no difference.
"""

from schedviz.explain.doctor.examine import examine_dump, examine_dump_alone, examine_engine, examine_objects
from schedviz.explain.doctor.finding import Examination, Finding, Scheduler

__all__ = ["Examination", "Finding", "Scheduler", "examine_dump", "examine_dump_alone", "examine_engine", "examine_objects"]
