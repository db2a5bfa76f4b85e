import { describe, expect, test } from "vitest";
import { ageSeconds, componentOf, pastedGroups, reasonsOf, textsOf } from "../src/model/pastedGroups";

const said = (pod: string, at: string, text: string, component = "") => ({ pod, at, text, component });

describe("messages of a pasted text", () => {
  test("the newest message of a pod comes first, whatever their order", () => {
    const [group] = pastedGroups([said("shop/web", "30m ago", "0/29"), said("shop/web", "29m ago", "0/30"), said("shop/web", "4d16h ago", "0/3")]);
    expect(group).toEqual({ pods: ["shop/web"], latest: said("shop/web", "29m ago", "0/30"), beside: [], earlier: [said("shop/web", "30m ago", "0/29"), said("shop/web", "4d16h ago", "0/3")], others: [] });
  });

  test("without ages the last message is the newest, as in the events of a description", () => {
    expect(pastedGroups([said("a/b", "", "old"), said("a/b", "", "new")])[0]?.latest.text).toBe("new");
  });

  test("pods with the same message form one group", () => {
    const groups = pastedGroups([said("a/one", "2m ago", "0/1"), said("a/two", "9h ago", "0/1"), said("a/three", "", "0/2")]);
    expect(groups.map(({ pods }) => pods)).toEqual([["a/one", "a/two"], ["a/three"]]);
  });

  test("pods of one ReplicaSet form one group if their messages have the same reasons, whatever the numbers", () => {
    const of = (pod: string, text: string, reasons: string) => ({ ...said(pod, "", text), reasons });
    const pods = ["a/web-5f8b56c8fc-6296k", "a/web-5f8b56c8fc-x9zqw", "a/web-5f8b56c8fc-b4d7m", "a/api-77d9c6b5f4-2bcdf"].map((pod, i) => of(pod, `0/9: ${String(i)} cpu`, i === 2 ? "memory" : "cpu"));
    const [first, ...others] = pastedGroups(pods);
    expect(first!.pods).toEqual([pods[0]!.pod, pods[1]!.pod]);
    expect(first!.others).toEqual([pods[1]]);
    expect(others.map((group) => group.pods)).toEqual([[pods[2]!.pod], [pods[3]!.pod]]);
    expect(pastedGroups(pods.slice(0, 2), (pod) => pod)).toHaveLength(2);
  });

  test("reasons have no numbers of nodes, and those of an autoscaler no generated names", () => {
    const clauses = [{ plugin: "karpenter", reason: "should schedule on: nodeclaim/default-x7k2p" }];
    expect(reasonsOf({ clauses }, "karpenter")).toBe("should schedule on: nodeclaim/#");
    expect(reasonsOf({ clauses: [{ plugin: "", reason: "b" }, { plugin: "", reason: "Insufficient a2" }, { plugin: "", reason: "b" }] }, "")).toBe("Insufficient a2\nb");
  });

  test("messages without a pod form one group if they have ages, and separate groups otherwise", () => {
    expect(pastedGroups([said("", "30m ago", "0/29"), said("", "29m ago", "0/30")])).toHaveLength(1);
    expect(pastedGroups([said("", "", "0/29"), said("", "", "0/30")])).toHaveLength(2);
  });

  test("a message of an autoscaler without a pod and an age is beside the only one of the scheduler", () => {
    const autoscaler = said("", "", "no scale-up", "cluster-autoscaler");
    const [group, ...others] = pastedGroups([said("", "", "0/29"), autoscaler]);
    expect([group!.latest.text, group!.beside, others]).toEqual(["0/29", [autoscaler], []]);
    expect(pastedGroups([said("", "", "0/29"), said("", "", "0/30"), autoscaler])).toHaveLength(3);
  });

  test("the newest message of an autoscaler is shown beside that of the scheduler", () => {
    const [group] = pastedGroups([
      said("a/b", "20m ago", "0/8"),
      said("a/b", "9m ago", "no scale-up, then", "cluster-autoscaler"),
      said("a/b", "7m ago", "0/9"),
      said("a/b", "2m ago", "no scale-up", "cluster-autoscaler"),
    ]);
    expect([group!.latest, ...group!.beside].map(({ text }) => text)).toEqual(["0/9", "no scale-up"]);
    expect(group!.earlier.map(({ text }) => text)).toEqual(["no scale-up, then", "0/8"]);
    expect(textsOf(group!)).toBe("0/9\n\nno scale-up");
  });

  test("a message of an autoscaler comes first if the scheduler has none", () => {
    expect(pastedGroups([said("a/b", "2m ago", "no scale-up", "karpenter")])[0]?.latest.text).toBe("no scale-up");
    expect([componentOf({ clauses: [{ plugin: "karpenter" }] }), componentOf({ clauses: [{ plugin: "NodePorts" }] }), componentOf({ clauses: [] })]).toEqual(["karpenter", "", ""]);
  });

  test("the ages that kubectl prints are parsed", () => {
    expect([ageSeconds("2m57s ago"), ageSeconds("4d16h"), ageSeconds("")]).toEqual([177, 403_200, null]);
  });

  test("RFC 3339 times are in their order, whatever that of the text", () => {
    const [group] = pastedGroups([said("", "2026-03-10T10:12:00Z", "second", "karpenter"), said("", "2026-03-10T10:00:00Z", "first", "karpenter"), said("", "2026-03-10T10:05:00Z", "0/4")]);
    expect([group!.latest, ...group!.beside, ...group!.earlier].map(({ text }) => text)).toEqual(["0/4", "second", "first"]);
  });
});
