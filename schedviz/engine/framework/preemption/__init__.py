"""What preemption plugins share: find candidates by dry runs, pick one, prepare it. Upstream: framework/preemption"""

from schedviz.engine.framework.preemption.evaluator import Evaluator, VictimSelector
from schedviz.engine.framework.preemption.importance import NodeVictims, more_important_first, pick_one_node

__all__ = ["Evaluator", "NodeVictims", "VictimSelector", "more_important_first", "pick_one_node"]
