"""Shared by preemption plugins: find candidates by dry runs, pick one, prepare it. Upstream: framework/preemption"""

from schedviz.engine.framework.preemption.evaluator import Evaluator, VictimSearch, VictimSelector
from schedviz.engine.framework.preemption.importance import RULES, NodeVictims, Pick, more_important_first, pick, pick_one_node

__all__ = ["RULES", "Evaluator", "NodeVictims", "Pick", "VictimSearch", "VictimSelector", "more_important_first", "pick", "pick_one_node"]
