import { describe, expect, it } from "vitest";

import { check, OBJECT_KINDS, refused } from "../../src/editor/check";
import { suggest } from "../../src/editor/complete";
import { formOf, withArgs, withNumber, withPlugin } from "../../src/editor/configuration";
import { read, stepsOf } from "../../src/editor/reading";
import { CONFIGURATION, schemaOfArgs, type Simulated } from "../../src/editor/schema";
import { CONFIGURATION_TEMPLATE, TEMPLATES } from "../../src/editor/templates";

const POD = TEMPLATES.find(({ id }) => id === "pod")!.text;
const V1_27: Simulated = { release: "v1.27.1" };
const V1_36: Simulated = { release: "v1.36" };
const messages = (text: string, kinds = OBJECT_KINDS, simulated = V1_27): string[] => check(text, kinds, simulated).map(({ severity, message }) => `${severity}: ${message}`);
const underlined = (text: string, kinds = OBJECT_KINDS): string[] => check(text, kinds).map(({ from, to }) => text.slice(from, to));
const form = (text: string, simulated = V1_27) => formOf(text, simulated, (name) => schemaOfArgs(name) !== null)!;
const line = (text: string, name: string) => form(text).profiles[0]!.plugins.find((plugin) => plugin.name === name)!;

describe("checking an object", () => {
  it.each(TEMPLATES)("finds nothing wrong with the template $id", ({ text }) => {
    expect(messages(text)).toEqual([]);
  });

  it("reports a misspelled field at its position", () => {
    const text = POD.replace("containers:", "containes:");
    expect(messages(text)).toEqual(["error: Unknown field containes. Did you mean containers?"]);
    expect(underlined(text)).toEqual(["containes"]);
  });

  it("reports a field of Kubernetes that the scheduler does not read as information", () => {
    const text = POD.replace("spec:\n", "spec:\n  dnsPolicy: ClusterFirst\n");
    expect(messages(text)).toEqual(["info: The scheduler does not read dnsPolicy, so it has no effect here."]);
  });

  it("reports invalid quantities, enum values and types", () => {
    const text = POD.replace("500m", "half").replace("name: main", "name: 7").replace("spec:\n", "spec:\n  preemptionPolicy: Perhaps\n");
    expect(underlined(text)).toEqual(["Perhaps", "7", "half"]);
  });

  it("lists the known kinds for an unknown one", () => {
    expect(messages("kind: Toaster\n")[0]).toContain("Pod");
  });

  it("reports a YAML syntax error", () => {
    expect(check("a: [1,\n", OBJECT_KINDS)[0]).toMatchObject({ severity: "error" });
  });

  it("places an error of the server at the member that its path names, or at the nearest existing parent", () => {
    const problem = refused(POD, "$.object.spec.containers[0].resources.requests.cpu", "object", "no");
    expect(POD.slice(problem.from, problem.to)).toBe("500m");
    const missing = refused(POD, "$.object.spec.containers[0].ports[2]", "object", "no");
    expect(POD.slice(missing.from, missing.to)).toBe("name");
  });

  it("splits a path with indexes into its steps", () => {
    expect(stepsOf("$.config.profiles[0].pluginConfig[1].args")).toEqual(["config", "profiles", 0, "pluginConfig", 1, "args"]);
  });
});

describe("suggestions", () => {
  const labels = (text: string, fallback = "Pod"): string[] => suggest(text, text.length, fallback, V1_27)?.options.map(({ label }) => label) ?? [];

  it("are the fields of the object around the cursor", () => {
    expect(labels("kind: Pod\nspec:\n  ")).toContain("tolerations");
    expect(labels("kind: Pod\nspec:\n  containers:\n    - name: main\n      ")).toContain("resources");
    expect(labels("kind: Pod\nspec:\n  tolerations:\n  - ")).toContain("effect");
    expect(labels("kind: Node\nspec:\n  ")).toContain("taints");
  });

  it("are the possible values of a field", () => {
    expect(labels("kind: Pod\nspec:\n  tolerations:\n  - effect: ")).toEqual(["NoSchedule", "PreferNoSchedule", "NoExecute"]);
    expect(labels("kind: Pod\nspec:\n  hostNetwork: ")).toEqual(["true", "false"]);
  });

  it("are plugins and their arguments in a configuration", () => {
    const head = "profiles:\n  - plugins:\n      multiPoint:\n        enabled:\n          - name: ";
    expect(labels(head, CONFIGURATION)).toContain("NodeResourcesFit");
    expect(labels("profiles:\n  - pluginConfig:\n      - name: NodeResourcesFit\n        args:\n          ", CONFIGURATION)).toContain("scoringStrategy");
  });
});

describe("the form of a configuration", () => {
  it("shows which plugins are enabled by default, and their weights", () => {
    expect(line(CONFIGURATION_TEMPLATE, "TaintToleration")).toMatchObject({ on: true, weight: 3, byDefault: true, spoken: false });
    expect(line(CONFIGURATION_TEMPLATE, "CinderLimits")).toMatchObject({ on: false });
  });

  it("restores the text when a plugin is disabled and enabled again", () => {
    const off = withPlugin(CONFIGURATION_TEMPLATE, V1_27, 0, "ImageLocality", { on: false });
    expect(off).toContain("disabled:\n          - name: ImageLocality");
    expect(line(off, "ImageLocality").on).toBe(false);
    expect(withPlugin(off, V1_27, 0, "ImageLocality", { on: true })).toBe(CONFIGURATION_TEMPLATE);
  });

  it("restores the text when a weight is changed and reset", () => {
    const heavy = withPlugin(CONFIGURATION_TEMPLATE, V1_27, 0, "TaintToleration", { on: true, weight: 7 });
    expect(line(heavy, "TaintToleration")).toMatchObject({ on: true, weight: 7, spoken: true });
    expect(withPlugin(heavy, V1_27, 0, "TaintToleration", { on: true, weight: 3 })).toBe(CONFIGURATION_TEMPLATE);
  });

  it("keeps comments", () => {
    const text = CONFIGURATION_TEMPLATE.replace("profiles:", "# ours\nprofiles:");
    expect(withNumber(withArgs(text, 0, "NodeResourcesFit"), ["percentageOfNodesToScore"], 50)).toContain("# ours");
  });

  it("makes valid YAML from an empty text", () => {
    expect(read(withPlugin("", V1_27, 0, "ImageLocality", { on: false })).problems).toEqual([]);
  });

  it("reports unknown plugins and arguments", () => {
    const text = withArgs(CONFIGURATION_TEMPLATE, 0, "NodeResourcesFit").replace("args: {}", "args: {scoringStrategie: {}}");
    expect(messages(text, [CONFIGURATION])).toEqual(["error: Unknown field scoringStrategie. Did you mean scoringStrategy?"]);
    const named = withPlugin(CONFIGURATION_TEMPLATE, V1_27, 0, "ImageLocalty", { on: true });
    expect(messages(named, [CONFIGURATION])).toEqual(["warning: Unknown plugin ImageLocalty. Did you mean ImageLocality?"]);
  });

  it("lists the plugins of the session's release and feature gates", () => {
    const names = (simulated: Simulated): string[] => form(CONFIGURATION_TEMPLATE, simulated).profiles[0]!.plugins.map(({ name }) => name);
    const defaults = (simulated: Simulated): string[] => form(CONFIGURATION_TEMPLATE, simulated).profiles[0]!.plugins.filter(({ on }) => on).map(({ name }) => name);
    // v1.27.1 rejects SelectorSpread, and v1.36 has no plugins for single kinds of disks.
    for (const name of ["EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits"]) {
      expect(names(V1_27)).toContain(name);
      expect(names(V1_36)).not.toContain(name);
    }
    expect([...names(V1_27), ...names(V1_36)]).not.toContain("SelectorSpread");
    expect(defaults(V1_36)).toEqual(expect.arrayContaining(["DynamicResources", "NodeDeclaredFeatures"]));
    expect(defaults(V1_36)).not.toContain("GangScheduling");
    expect(defaults({ release: "v1.36", featureGates: { GangScheduling: true, NodeDeclaredFeatures: false } })).toContain("GangScheduling");
    expect(defaults({ release: "v1.36", featureGates: { NodeDeclaredFeatures: false } })).not.toContain("NodeDeclaredFeatures");
  });

  it("says of a plugin that the release does not have what enabling and disabling it does", () => {
    const text = CONFIGURATION_TEMPLATE.replace("- schedulerName: default-scheduler", "- schedulerName: default-scheduler\n    plugins:\n      multiPoint:\n        disabled:\n          - name: EBSLimits");
    expect(messages(text, [CONFIGURATION], V1_27)).toEqual([]);
    expect(messages(text, [CONFIGURATION], V1_36)).toEqual([
      "warning: EBSLimits is not a plugin of kube-scheduler v1.36. To enable it, install it on the server. Disabling it has no effect.",
    ]);
  });
});
