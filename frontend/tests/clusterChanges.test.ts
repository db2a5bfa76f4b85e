import { expect, it } from "vitest";

import { clusterChanges, type AppliedCommand } from "../src/model/clusterChanges";
import type { AnyCommand } from "../src/model/generated";

const applied = (command: AnyCommand, event: number, error = ""): AppliedCommand => ({ command, outcome: { event, error } });
const create: AnyCommand = { op: "create", object: { kind: "Node", metadata: { name: "node-5" } } };
const cordon: AnyCommand = { op: "cordon", node: "node-1" };

it("lists the newest change first, between the moment before it and the moment before the next", () => {
  const changes = clusterChanges([applied({ op: "run" }, 245), applied(create, 254), applied({ op: "run" }, 300), applied(cordon, 310)]);
  expect(changes).toEqual([
    { command: cordon, others: 0, before: 300, after: null },
    { command: create, others: 0, before: 245, after: 300 },
  ]);
});

it("counts changes that directly follow one another as one, and refused ones not at all", () => {
  const changes = clusterChanges([applied({ op: "run" }, 245), applied(create, 254), applied(cordon, 256), applied(create, 256, "it exists"), applied({ op: "run" }, 300)]);
  expect(changes).toEqual([{ command: create, others: 1, before: 245, after: null }]);
});

it("knows nothing about a change without the moment before it", () => {
  expect(clusterChanges([applied(create, 254), applied({ op: "run" }, 300)])).toEqual([]);
});
