"""The lesson that `schedviz lesson new` writes: small, complete and correct, as a starting point."""

from __future__ import annotations

from pathlib import Path

from schedviz.lessons.reading import PLAN

_PLAN = """\
# docs/lessons.md says what everything here means; `schedviz lesson check FOLDER` lists its errors.
part: workflow
order: 50
minutes: 3
upstream:
  - {file: schedule_one.go, symbol: schedulePod}

cluster:
  - {node: small, cpu: 2}
  - {node: large, cpu: 8}

stops:
  - id: two-nodes
    highlight: [pane/cache]
    check:
      - {that: "sort(state.cache.list[].name)", is: [large, small]}

  - id: where-will-it-go
    do:
      - {op: create, object: {pod: web, cpu: 1}}
    highlight: [pod/default/web]
    question:
      ask: node
      answer: cycle.node
    reveal:
      - {op: cycle}
    facts:
      looked-at: cycle.evaluatedNodes
    check:
      - {that: "state.cache.podStates.\\"default/web\\".node", is: large}
"""

_EN = """\
# Where a pod goes

One pod, two nodes, and the reason why it lands where it does.

## two-nodes
There are two nodes: [small](node:small) and [large](node:large). Both are empty.

## where-will-it-go
A pod was created that requests one CPU. It would fit on either node.

### Question
On which node will it be placed?

### Answer
On **{answer}**. The scheduler looked at {looked-at} nodes and preferred the one with the smaller share in use.

### Hint
After placing it, which share of each node's CPU would be in use?

## Take home
- Filtering says where a pod could go, scoring where it goes.
- By default, the emptier node wins.
- What counts is the share of the node, not the amount.
"""

_ZH_CN = """\
# Pod 会去哪里

一个 Pod，两个节点，以及它为什么落在那里。

## two-nodes
这里有两个节点：[small](node:small) 和 [large](node:large)，都是空的。

## where-will-it-go
创建了一个请求 1 个 CPU 的 Pod。两个节点都放得下它。

### Question
它会被放到哪个节点？

### Answer
**{answer}**。调度器看了 {looked-at} 个节点，选择了放入之后使用比例较小的那个。

### Hint
放入之后，每个节点的 CPU 会用掉多大比例？

## Take home
- 过滤决定 Pod 能去哪里，打分决定它去哪里。
- 默认情况下，更空的节点胜出。
- 看的是占节点的比例，而不是绝对数量。
"""


def write_skeleton(folder: Path) -> list[Path]:
    """Write the lesson into a new folder; returns its files."""
    folder.mkdir(parents=True)
    files = {PLAN: _PLAN, "en.md": _EN, "zh-CN.md": _ZH_CN}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in files]
