import { expect, it } from "vitest";

import { changesBetween, clusterChanges, type AppliedCommand } from "../../../src/model/compare/clusterChanges";
import type { AnyCommand } from "../../../src/model/generated";

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

it("finds the changes of a run between two events, without commands that change nothing or were refused", () => {
  const commands = [applied(create, 60), applied({ op: "run" }, 68), applied(cordon, 72), applied(create, 72, "it exists"), applied({ op: "run" }, 120), applied(create, 130), applied(cordon, 140)];
  expect(changesBetween(commands, 68, 130)).toEqual({ command: cordon, others: 1, before: 68, after: 130 });
  expect(changesBetween(commands, 72, 120)).toBeNull();
});
