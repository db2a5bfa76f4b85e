import { describe, expect, it } from "vitest";
import { hasMessagesAlone, hasObjects } from "../src/model/pastedText";

const MESSAGE = "0/3 nodes are available: 3 Insufficient cpu.";

describe("the output of kubectl describe", () => {
  const NODE = "Name:  worker-1\nLabels:  a=b\nAllocatable:\n  cpu:  4\n";
  const POD = "Name:  web\nNamespace:  shop\nEvents:\n  Warning  FailedScheduling  0/1 nodes are available: 1 Insufficient cpu.\n";

  it("has objects if it includes a node", () => {
    expect(hasObjects(NODE + POD)).toBe(true);
    expect(hasMessagesAlone(POD)).toBe(true);
  });
});

describe("a pasted text", () => {
  it.each([
    ["a manifest", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: []}\n"],
    ["JSON", '{"apiVersion": "v1", "items": []}'],
    ["a fragment without apiVersion", "kind: Pod\nmetadata:\n  name: a\n"],
    ["the specification of a pod", "nodeSelector:\n  disk: ssd\ncontainers:\n- name: a\n"],
    ["a quoted manifest", "> kind: Pod\n> metadata:\n>   name: a\n"],
    ["a pod whose status has a message", `apiVersion: v1\nkind: Pod\nspec: {}\nstatus:\n  conditions:\n  - message: '${MESSAGE}'\n`],
    ["a dump of the scheduler", "I1 1 dumper.go:1] Dump of cached NodeInfo\n"],
  ])("has objects: %s", (_, text) => {
    expect(hasObjects(text)).toBe(true);
    expect(hasMessagesAlone(text)).toBe(false);
  });

  it.each([
    ["a message", MESSAGE],
    ["a description", `Name: a\nEvents:\n  Warning  FailedScheduling  5m  default-scheduler  ${MESSAGE}\n`],
    ["an event with another message", "Warning  FailedScheduling  5m  default-scheduler  skip schedule deleting pod: a/b"],
    ["Events as JSON", `{"apiVersion": "v1", "items": [{"kind": "Event", "message": "${MESSAGE}"}]}`],
    ["the status of a pod", `status:\n  conditions:\n  - message: '${MESSAGE}'\n`],
    ["a wrapped message", "0/3 nodes\n  are available: 3 Insufficient cpu."],
  ])("has messages alone: %s", (_, text) => {
    expect(hasObjects(text)).toBe(false);
    expect(hasMessagesAlone(text)).toBe(true);
  });

  it("of any length is classified in linear time", () => {
    expect(hasMessagesAlone(`${MESSAGE}${" ".repeat(300_000)}`)).toBe(true);
    expect(hasMessagesAlone(`${"\n".repeat(3_000_000)}${MESSAGE}`)).toBe(true);
  });

  it("without objects and messages has neither", () => {
    expect(hasObjects("hello, what kind: of text?")).toBe(false);
    expect(hasMessagesAlone("hello")).toBe(false);
  });
});
