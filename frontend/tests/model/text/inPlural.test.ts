import { expect, test } from "vitest";
import { inPlural, valueInPlural } from "../../../src/model/text/inPlural";

test("a sentence about one pod is one about several", () => {
  expect(inPlural("Karpenter cannot add a node for this pod: NodePool `the pod is` has the taint `a`, which the pod does not tolerate.", 6)).toBe("Karpenter cannot add a node for these 6 pods: NodePool `the pod is` has the taint `a`, which the pods do not tolerate.");
  expect(inPlural("The pod cannot use the nodes that the pod selects and tolerates: the pod's volume", 2)).toBe("The pods cannot use the nodes that the pods select and tolerate: the pods' volume");
  expect(inPlural("this pod", 1)).toBe("this pod");
});

test("only texts with a phrase are changed, and lose it", () => {
  expect(valueInPlural({ reason: "the pod is", clauses: [{ headline: "the pod has", headlinePhrase: { template: "", values: {} } }] }, 2)).toEqual({ reason: "the pod is", clauses: [{ headline: "the pods have", headlinePhrase: null }] });
});
