import { describe, expect, it } from "vitest";
import { RefusedCommands } from "../../../src/store/session/refusedCommands";

function told(): { refusals: RefusedCommands; said: string[] } {
  const said: string[] = [];
  return { refusals: new RefusedCommands((error) => said.push(error)), said };
}

describe("RefusedCommands", () => {
  it("reports errors of commands of this page, whether the error or the acknowledgement arrives first", () => {
    const { refusals, said } = told();
    refusals.own(1);
    refusals.take(1, "first");
    refusals.take(2, "second");
    refusals.own(2);
    refusals.own(3);
    expect(said).toEqual(["first", "second"]);
  });

  it("does not report errors of others' commands, and reports each error once", () => {
    const { refusals, said } = told();
    refusals.take(1, "a form's");
    refusals.own(2);
    refusals.take(2, "mine");
    refusals.take(2, "mine");
    expect(said).toEqual(["mine"]);
  });

  it("remembers a limited number of errors", () => {
    const { refusals, said } = told();
    for (let seq = 1; seq <= 100; seq++) refusals.take(seq, "of others");
    refusals.own(1);
    expect(said).toEqual([]);
  });
});
