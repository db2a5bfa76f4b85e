"""`Verdicts`: the statuses of one plugin, or of all, for many nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from schedviz.engine.framework.status import SUCCESS, Code, Status

#: Positions of rows.
Index = npt.NDArray[np.intp]
#: The position of each row's status.
Codes = npt.NDArray[np.signedinteger[Any]]
#: The type of codes where rows can have a status each, more than 16 bits can number.
CODE_TYPE: Final = np.int32
Mask = npt.NDArray[np.bool_]


class Verdicts:
    """A status for each row: `codes[i]` is the position of row i's status in `statuses`, which starts with SUCCESS."""

    __slots__ = ("codes", "statuses")

    def __init__(self, codes: Codes, statuses: Sequence[Status]) -> None:
        self.codes = codes
        self.statuses = statuses

    @classmethod
    def reject(cls, mask: Mask, status: Status) -> Verdicts | None:
        """`status` where the mask is set; None (all Success) if it is set nowhere."""
        return cls(mask.astype(np.int16), (SUCCESS, status)) if mask.any() else None

    @classmethod
    def all(cls, count: int, status: Status) -> Verdicts:
        """The same status for every row."""
        return cls(np.ones(count, np.int16), (SUCCESS, status))

    @classmethod
    def of(cls, statuses: Sequence[Status]) -> Verdicts:
        """A status given for each row."""
        distinct: dict[Status, int] = {SUCCESS: 0}
        codes = np.fromiter((distinct.setdefault(status, len(distinct)) for status in statuses), CODE_TYPE, len(statuses))
        return cls(codes, tuple(distinct))

    def replaced(self, statuses: Mapping[int, Status]) -> Verdicts:
        """These verdicts, with other statuses for some rows."""
        if not statuses:
            return self
        distinct: dict[Status, int] = {}
        codes = self.codes.astype(CODE_TYPE)
        for row, status in statuses.items():
            codes[row] = distinct.setdefault(status, len(self.statuses) + len(distinct))
        return Verdicts(codes, (*self.statuses, *distinct))

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> Status:
        return self.statuses[int(self.codes[row])]

    @property
    def rejects_none(self) -> bool:
        """Whether all rows are Success, known without reading the rows."""
        return len(self.statuses) == 1

    def has_error(self) -> bool:
        """Whether a status is Error. `run_filter_plugins` makes an Error of every code that Filter may not return."""
        return any(status.code is Code.ERROR for status in self.statuses)
