"""Normalizes scores to 0..100 by their maximum. Upstream: framework/plugins/helper/normalize_score.go"""

from __future__ import annotations

import numpy as np

from schedviz.engine.framework.interface import MAX_NODE_SCORE, Scores
from schedviz.engine.framework.uniform import uniform, uniform_value


def default_normalize_score(scores: Scores, *, reverse: bool = False) -> Scores:
    """Scale scores so that the highest becomes 100; reversed, the highest becomes 0.

    Scores are not negative. If all are 0 they stay 0, or (reversed) become 100.
    """
    value = uniform_value(scores)
    if value is not None:
        return uniform(len(scores), MAX_NODE_SCORE if (value > 0) is not reverse else 0)
    highest = int(scores.max(initial=0))
    if highest == 0:
        return np.full_like(scores, MAX_NODE_SCORE) if reverse else scores
    scaled = scores * MAX_NODE_SCORE // highest
    return MAX_NODE_SCORE - scaled if reverse else scaled
