import { expect, test } from "vitest";
import { commonDomain, withoutDomain } from "../../src/model/names";

const EKS = ["ip-10-0-1-12.eu-west-1.compute.internal", "ip-10-0-3-19.eu-west-1.compute.internal"];

test("the common domain of a cloud's nodes is removed from their names", () => {
  const domain = commonDomain(EKS);
  expect(domain).toBe(".eu-west-1.compute.internal");
  expect(EKS.map((name) => withoutDomain(name, domain))).toEqual(["ip-10-0-1-12", "ip-10-0-3-19"]);
});

test("names without a common domain are unchanged", () => {
  expect(commonDomain([])).toBe("");
  expect(commonDomain(EKS.slice(1))).toBe("");
  expect(commonDomain(["node-1", "node-2"])).toBe("");
  expect(commonDomain(["10.0.0.1", "11.0.0.1"])).toBe("");
  expect(commonDomain([...EKS, "ip-10-1-0-1.us-east-1.compute.internal"])).toBe("");
  expect(withoutDomain("node-1", "")).toBe("node-1");
});
