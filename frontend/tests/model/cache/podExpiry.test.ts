import { describe, expect, it } from "vitest";

import { podExpiryOf } from "../../../src/model/cache/podExpiry";

describe("the expiry of a pod in the cache", () => {
  const assumed = { pod: "default/p", node: "node-1", assumed: true };

  it("is when and whether an assumed pod expires in v1.27.1", () => {
    expect(podExpiryOf(assumed, "v1.27.1")).toEqual({ bindingFinished: false, deadlineSeconds: null });
    expect(podExpiryOf({ ...assumed, bindingFinished: true, deadlineSeconds: 30 }, "v1.27.1")).toEqual({ bindingFinished: true, deadlineSeconds: 30 });
  });

  it("is null in v1.36, where the cache does not know whether a binding is written", () => {
    expect(podExpiryOf(assumed, "v1.36")).toBeNull();
  });

  it("is null for a pod that is not assumed", () => {
    expect(podExpiryOf({ ...assumed, assumed: false }, "v1.27.1")).toBeNull();
  });
});
