import { describe, expect, it } from "vitest";
import { reasonParts } from "../../../src/model/text/reasonParts";

const clause = (reason: string, count: number) => ({ reason, count });

describe("the bar of a message's reasons", () => {
  it("has a part for each reason, with a cell for each node", () => {
    const parts = reasonParts([clause("Insufficient cpu", 3), clause("node(s) were unschedulable", 2)], 5);

    expect(parts.map(({ count, hasCells }) => [count, hasCells])).toEqual([[3, true], [2, true]]);
    expect(parts[0]!.color).not.toBe(parts[1]!.color);
  });

  it("ends with the nodes that the message gives no reason for", () => {
    const parts = reasonParts([clause("Insufficient cpu", 3)], 5);

    expect(parts.at(-1)).toMatchObject({ clause: null, count: 2 });
  });

  it("has no cells if a node has several reasons, or if there are too many nodes", () => {
    expect(reasonParts([clause("Insufficient cpu", 2), clause("Insufficient memory", 2)], 2).some(({ hasCells }) => hasCells)).toBe(false);
    expect(reasonParts([clause("Insufficient cpu", 500)], 500).some(({ hasCells }) => hasCells)).toBe(false);
  });

  it("has the parts in the order of the list: what is not to be acted on comes last, in grey", () => {
    const [aside, ...others] = [{ ...clause("node(s) had untolerated taint {a: b}", 4), isAside: true }, clause("Insufficient cpu", 1), clause("Insufficient memory", 2)];
    const parts = reasonParts([others[0]!, aside!, others[1]!], 7);

    expect(parts.map(({ count }) => count)).toEqual([1, 2, 4]);
    expect(parts.map(({ color }) => color)).toEqual([...reasonParts(others, 3).map(({ color }) => color), "var(--skip)"]);
  });

  it("is empty for a message that counts no nodes", () => {
    expect(reasonParts([clause("Insufficient cpu", 1)], 0)).toEqual([]);
    expect(reasonParts([clause("pod has unbound immediate PersistentVolumeClaims", 0)], 3)).toEqual([]);
  });
});
