import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { RELEASES } from "../../../src/model/sessions/releases";

describe("RELEASES", () => {
  it("equal those of the server", () => {
    const python = readFileSync(new URL("../../../../schedviz/trace/releases.py", import.meta.url), "utf-8");
    const [, names] = /ReleaseName = Literal\[(.*)\]/.exec(python) ?? [];

    expect(JSON.parse(`[${names ?? ""}]`)).toEqual([...RELEASES]);
  });
});
