import { describe, expect, it } from "vitest";

import { pluginsOf } from "../../src/layout/caseGlyph";

const thumbnail = (...plugins: string[]) => ({ resource: "cpu", nodes: plugins.map((plugin, i) => ({ node: `node-${i}`, zone: "a", used: 0, requested: 10, plugin })) });

describe("the plugins of a case's thumbnail", () => {
  it("are named once each", () => {
    expect(pluginsOf(thumbnail("TaintToleration", "NodeResourcesFit", "TaintToleration"))).toEqual(["TaintToleration", "NodeResourcesFit"]);
  });

  it("are the scheduling gates where no plugin rejects a node", () => {
    expect(pluginsOf(thumbnail("", ""))).toEqual(["SchedulingGates"]);
  });
});
