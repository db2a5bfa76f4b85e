"""The bare arithmetic of Filter and Score for one pod over many nodes, in NumPy: the yardstick for a scheduling cycle.

calibration() returns seconds per pod. Ratios to it hold on any machine; seconds do not. About 0.08 ms at 5,000 nodes on two
shared cores of 2026. Copy it unchanged into `schedviz bench` (the `calibration_ms` of each row).
"""

import time

import numpy as np


def calibration(nodes: int = 5000, pods: int = 1500) -> float:
    cpu = np.full(nodes, 4000, np.int64)
    memory = np.full(nodes, 32 << 30, np.int64)
    room = np.full(nodes, 110, np.int64)
    used_cpu, used_memory, count = (np.zeros(nodes, np.int64) for _ in range(3))
    taint_set, verdict, cordoned = np.zeros(nodes, np.int32), np.zeros(1, np.int8), np.zeros(nodes, bool)
    begin = time.perf_counter()
    for _ in range(pods):
        fits = ~cordoned
        fits &= verdict[taint_set] == 0
        fits &= count + 1 <= room
        fits &= used_cpu + 100 <= cpu
        fits &= used_memory + (500 << 20) <= memory
        index = np.flatnonzero(fits)
        rows = slice(None) if len(index) == nodes else index
        c, m, rc, rm = cpu[rows], memory[rows], used_cpu[rows] + 100, used_memory[rows] + (500 << 20)
        least = ((c - rc) * 100 // c + (m - rm) * 100 // m) // 2
        balanced = ((1 - np.abs((np.minimum(rc / c, 1.0) - np.minimum(rm / m, 1.0)) / 2)) * 100).astype(np.int64)
        total = least + balanced + np.full(len(index), 100) * 3
        chosen = index[np.flatnonzero(total == total.max())[0]]
        used_cpu[chosen] += 100
        used_memory[chosen] += 500 << 20
        count[chosen] += 1
    return (time.perf_counter() - begin) / pods


if __name__ == "__main__":
    for size in (100, 500, 1000, 5000, 15000):
        print(f"{size:6d} nodes  {calibration(size) * 1000:.3f} ms")
