import { expect, it } from "vitest";
import type { AnyCommand } from "../src/model/generated";
import { fixInWords } from "../src/views/cases/fixInWords";

const create = (kind: string, name: string): AnyCommand => ({ op: "create", object: { kind, metadata: { name } } });

it("names what a fix adds, changes, deletes and replaces", () => {
  const replaced: AnyCommand[] = [{ op: "delete", kind: "Pod", namespace: "default", name: "small-1" }, create("Pod", "small-1")];
  expect(fixInWords([create("Node", "node-a1"), { op: "run" }])).toBe("added Node node-a1");
  expect(fixInWords([{ op: "update", object: { kind: "Node", metadata: { name: "gpu-1" } } }])).toBe("changed Node gpu-1");
  expect(fixInWords([{ op: "delete", kind: "Pod", name: "nginx-2" }])).toBe("deleted Pod nginx-2");
  expect(fixInWords(replaced)).toBe("replaced Pod small-1");
});
