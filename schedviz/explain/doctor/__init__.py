"""Doctor: compares API objects, cache, snapshot and a SIGUSR2 dump value by value, and names the likely cause of each difference.

Upstream's comparer compares names of nodes and uids of pods. The doctor also compares amounts, nominations, ghosts and the queue. Transient
conditions (an assumed pod, a nominated one whose victims are terminating) and false alarms are notes, not differences.
"""

from schedviz.explain.doctor.differences import Examination, KnownScheduler
from schedviz.explain.doctor.examine import examine_dump, examine_dump_alone, examine_engine, examine_objects
from schedviz.explain.finding import Finding

__all__ = ["Examination", "Finding", "KnownScheduler", "examine_dump", "examine_dump_alone", "examine_engine", "examine_objects"]
