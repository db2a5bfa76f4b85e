import { describe, expect, it } from "vitest";
import texts from "../../pastedMessages.json";
import { hasMessagesAlone, hasNoNodes, hasNoPods, hasObjects, isCopied, mayHaveMessages, onlyPodOf, withObjects } from "../../../src/model/text/pastedText";

const MESSAGE = "0/3 nodes are available: 3 Insufficient cpu.";

describe("a message", () => {
  it.each(Object.entries(texts))("of %s is found, as by the server", (_, text) => {
    expect(mayHaveMessages(text)).toBe(true);
  });
});

describe("the output of kubectl describe", () => {
  const NODE = "Name:  worker-1\nLabels:  a=b\nAllocatable:\n  cpu:  4\n";
  const POD = "Name:  web\nNamespace:  shop\nEvents:\n  Warning  FailedScheduling  0/1 nodes are available: 1 Insufficient cpu.\n";

  it("has objects if it includes a node", () => {
    expect(hasObjects(NODE + POD)).toBe(true);
    expect(hasMessagesAlone(POD)).toBe(true);
  });

  it("has messages alone if the described node has no name", () => {
    const excerpt = `$ kubectl describe node gpu-1\nCapacity:\n  nvidia.com/gpu:  1\nAllocatable:\n  nvidia.com/gpu:  1\n\nEvents:\n  ${MESSAGE}\n`;
    for (const text of [excerpt, `Here is the output:\n${excerpt}`, `kind: Pod\n${excerpt}`]) {
      expect(hasObjects(text)).toBe(false);
      expect(hasMessagesAlone(text)).toBe(true);
    }
  });

  it("may have messages beside objects, which are explained if the import finds no objects", () => {
    expect(mayHaveMessages(`apiVersion: v1\nspec: {\n${MESSAGE}`)).toBe(true);
    expect(mayHaveMessages(NODE)).toBe(false);
  });
});

describe("objects without nodes", () => {
  const POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  ownerReferences:\n  - apiVersion: v1\n    kind: Node\nspec: {containers: []}\n";

  it("are explained first", () => {
    expect(hasNoNodes(POD)).toBe(true);
    expect(hasNoNodes('{"apiVersion": "v1", "kind": "Pod", "metadata": {"ownerReferences": [{"kind": "Node", "name": "n"}]}, "spec": {}}')).toBe(true);
  });

  it.each([
    ["a node as YAML", `${POD}---\napiVersion: v1\nkind: Node\nmetadata: {name: n}\n`],
    ["a node of a list", `apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata: {name: n}\nkind: List\n`],
    ["a node as JSON", '{"apiVersion": "v1", "items": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}]}'],
    ["the capacity of a node", `${POD}---\nkind: X\nstatus:\n  allocatable: {cpu: 4}\n`],
    ["no object", MESSAGE],
  ])("are not in a text with %s", (_, text) => {
    expect(hasNoNodes(text)).toBe(false);
  });
});

describe("a message beside nodes", () => {
  const NODE = "apiVersion: v1\nkind: Node\nmetadata:\n  name: n\nspec: {}\nstatus:\n  allocatable: {pods: 8}\n";
  const EVENT = "apiVersion: v1\nkind: Event\ninvolvedObject:\n  kind: Pod\n  name: a\nreason: FailedScheduling\n";
  const POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: []}\n";

  it.each([
    ["below it", `${MESSAGE}\n---\n${NODE}`],
    ["below it without a separator", `${MESSAGE}\n${NODE}`],
    ["above it", `${NODE}${MESSAGE}\n`],
    ["in JSON", `${MESSAGE}\n{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "spec": {}}`],
    ["with its object", `${EVENT}---\n${NODE}`],
    ["described", `Name:  n\nRoles:  <none>\nAllocatable:\n  pods:  8\n${MESSAGE}`],
  ])("is explained without a session: %s", (_, text) => {
    expect(hasObjects(text) && hasNoPods(text)).toBe(true);
  });

  it.each([
    ["as YAML", `${MESSAGE}\n---\n${NODE}---\n${POD}`],
    ["as JSON", `{"apiVersion": "v1", "items": [{"apiVersion": "v1", "kind": "Pod", "spec": {"containers": []}}, {"kind": "Node"}]}`],
    ["without containers", `{"kind": "List", "items": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"allocatable": "4"}}, "spec": {}`],
    ["of a list, sorted by key", `{"apiVersion": "v1", "items": [{"spec": {"containers": []}}], "kind": "PodList"}`],
    ["described", `Name:  n\nAllocatable:\n  pods:  8\nName:  a\nContainers:\n  a:\n${MESSAGE}`],
  ])("becomes a session with a pod %s", (_, text) => {
    expect(hasNoPods(text)).toBe(false);
  });

  it("goes with the only pod of another file", () => {
    expect(withObjects([POD, MESSAGE])).toEqual([`${MESSAGE}\n---\n${POD}`]);
  });

  it("goes with the node of another file, in any order", () => {
    for (const texts of [[MESSAGE, NODE], [NODE, MESSAGE]]) expect(withObjects(texts)).toEqual([`${MESSAGE}\n---\n${NODE}`]);
    for (const texts of [[MESSAGE], [NODE], [NODE, "no message"], [MESSAGE, POD, POD.replace("name: a", "name: b")]]) expect(withObjects(texts)).toEqual(texts);
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
    ["a log of Karpenter", '2022-12-05T09:58:42.908Z\tERROR\tcontroller.provisioning\tCould not schedule pod, incompatible with provisioner "a"\n'],
    ["a JSON log of Karpenter about a NodePool", '{"level":"ERROR","message":"skipping, unable to resolve instance types","error":"no subnets found"}\n'],
    ["an old log of the scheduler", "E0912 21:15:18.306924       5 factory.go:583] Error scheduling default mongo-1: pod (mongo-1) failed to fit in any node\n"],
    ["an event with another message", "Warning  FailedScheduling  5m  default-scheduler  skip schedule deleting pod: a/b"],
    ["the log of a scheduler that has stopped", 'E1126 02:56:40.201072       1 server.go:242] "Leaderelection lost"'],
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

describe("a text without objects and messages", () => {
  it.each([
    ["a screen of k9s", "┌── Pods(shop)[2] ──┐\n│ NAME↑   PF READY STATUS  │\n│ web-1   ●  0/1   Pending │\n"],
    ["a description without events", "Name:    web\nStatus:  Pending\n"],
    ["a table", "NAME   READY   STATUS    RESTARTS   AGE\nweb    0/1     Pending   0          5m\n"],
  ])("is copied from a terminal: %s", (_, text) => {
    expect(isCopied(text)).toBe(true);
  });

  it.each([
    ["JSON", '{"nodes": []}'],
    ["YAML", "---\nnodes: []\n"],
    ["YAML without a head", "nodes:\n- a\n"],
    ["a table with commas", "sn,cpu_milli,memory_mib\nopenb-node-0000,64000,262144\n"],
    ["a log", "I1126 02:31:07.402113       1 schedule_one.go:83] attempt\n"],
    ["a binary file", "PK\u0003\u0004\0\0"],
    ["an object", "apiVersion: v1\nkind: Pod\n"],
    ["nothing", " \n"],
  ])("is for an import: %s", (_, text) => {
    expect(isCopied(text)).toBe(false);
  });
});

describe("the only pod of several texts", () => {
  const POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  labels:\n    name: other\n  name: probe\n  namespace: lab\nspec:\n  nodeName: a\n";

  it("is named by its manifest", () => {
    expect(onlyPodOf([MESSAGE, POD])).toBe("lab/probe");
    expect(onlyPodOf(["kind: Service\nmetadata:\n  name: web\n---\nkind: Pod\nmetadata: {name: web-0}\n"])).toBe("default/web-0");
  });

  it("is none if there are several, or none", () => {
    expect([onlyPodOf([POD, POD]), onlyPodOf([MESSAGE]), onlyPodOf(["kind: Pod\n"])]).toEqual(["", "", ""]);
  });
});
