import { expect, it } from "vitest";
import type { AnyCommand } from "../src/model/generated";
import { buttonInWords, fixInWords } from "../src/views/cases/fixInWords";

const create = (kind: string, name: string): AnyCommand => ({ op: "create", object: { kind, metadata: { name } } });

it("names what a fix adds, changes, deletes and replaces", () => {
  const replaced: AnyCommand[] = [{ op: "delete", kind: "Pod", namespace: "default", name: "small-1" }, create("Pod", "small-1")];
  expect(fixInWords([create("Node", "node-a1"), { op: "run" }])).toBe("added Node node-a1");
  expect(fixInWords([{ op: "update", object: { kind: "Node", metadata: { name: "gpu-1" } } }])).toBe("changed Node gpu-1");
  expect(fixInWords([{ op: "delete", kind: "Pod", name: "nginx-2" }])).toBe("deleted Pod nginx-2");
  expect(fixInWords(replaced)).toBe("replaced Pod small-1");
});

it("says on the button what the fix does, or that it does several things", () => {
  const inZone: AnyCommand = { op: "create", object: { kind: "Node", metadata: { name: "node-a1", labels: { "topology.kubernetes.io/zone": "zone-a" } } } };
  const replaced: AnyCommand[] = [{ op: "delete", kind: "Pod", namespace: "default", name: "small-1" }, create("Pod", "small-1")];
  expect(buttonInWords([inZone, { op: "run" }])).toBe("Add a node in zone-a");
  expect(buttonInWords([create("Node", "node-a1")])).toBe("Add Node node-a1");
  expect(buttonInWords([{ op: "delete", kind: "Pod", name: "nginx-2" }])).toBe("Delete Pod nginx-2");
  expect(buttonInWords(replaced)).toBe("Replace Pod small-1");
  expect(buttonInWords([inZone, ...replaced])).toBe("Apply the fix here");
});
