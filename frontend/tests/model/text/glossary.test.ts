import { describe, expect, it } from "vitest";
import terms from "../../../src/i18n/messages/glossary.json";
import { Glossary } from "../../../src/model/text/glossary";

const glossary = new Glossary(terms);
const titleOf = (label: string): string | undefined => glossary.ofLabel(label)?.title.en;

describe("labels", () => {
  it("match a term, also with a count, with an initial capital, and in Chinese", () => {
    expect(titleOf("activeQ 9")).toBe("activeQ");
    expect(titleOf("Scheduling queue")).toBe("scheduling queue");
    expect(titleOf("Scheduling cycle 12")).toBe("scheduling cycle");
    expect(titleOf("assumed")).toBe("assumed pod");
    expect(titleOf("调度队列")).toBe("scheduling queue");
    expect(titleOf("web-1")).toBeUndefined();
    expect(titleOf("")).toBeUndefined();
  });

  it("match basic terms, also in the plural", () => {
    expect(["Pods 12", "nodes", "API server", "kubelet", "plugin", "informers"].map(titleOf)).toEqual(["pod", "node", "API server", "kubelet", "plugin", "informer"]);
  });

  it("match every part of the queue and every extension point", () => {
    const named = ["activeQ", "backoffQ", "errorBackoffQ", "unschedulablePods", "gated", "nominated", "generation", "snapshot", "newer", "node sampling", "Confirm", "WaitOnPermit"];
    const points = ["PreEnqueue", "QueueSort", "PreFilter", "Filter", "PostFilter", "PreScore", "Score", "NormalizeScore", "Reserve", "Permit", "PreBind", "Bind", "PostBind"];
    for (const name of [...named, ...points]) expect(titleOf(name), name).toBeDefined();
  });
});

describe("plugins", () => {
  it("are terms, in labels and in sentences", () => {
    for (const name of ["NodeResourcesFit", "TaintToleration", "EBSLimits", "DefaultPreemption"]) expect(titleOf(name), name).toContain(name);
    expect(glossary.at("ahead because of NodeResourcesFit: 81", 20)?.term.title.en).toBe("NodeResourcesFit");
  });
});

describe("sentences", () => {
  const sentence = "api-2 is assumed on node-3, and unassumed later";
  it("have a term at an offset, but not inside another word or a name", () => {
    expect(glossary.at(sentence, sentence.indexOf("assumed") + 2)).toMatchObject({ start: 9, end: 16 });
    expect(glossary.at(sentence, sentence.indexOf("unassumed") + 4)).toBeNull();
    expect(glossary.at(sentence, 1)).toBeNull();
    expect(glossary.at("default/victim-1 stays", 10)).toBeNull();
  });

  it("have no tips for schedviz' own terms and for common words such as node", () => {
    expect(glossary.at("this session", 6)).toBeNull();
    expect(glossary.at("the node fits", 6)).toBeNull();
  });
});

it("every term has a title and a meaning in both languages", () => {
  for (const { title, meaning } of terms) for (const text of [title.en, title["zh-CN"], meaning.en, meaning["zh-CN"]]) expect(text, title.en).not.toBe("");
});
