import { describe, expect, it } from "vitest";

import { isRejection, mostSevere, STATUS_CODES } from "../../../src/model/cycle/statuses";
import { GLYPHS } from "../../../src/theme/glyphs";

describe("the codes of a Status", () => {
  it("have a glyph each", () => {
    expect(Object.keys(GLYPHS).sort()).toEqual([...STATUS_CODES].sort());
  });

  it("are rejections as in upstream's IsRejected", () => {
    expect(STATUS_CODES.filter(isRejection)).toEqual(["Unschedulable", "UnschedulableAndUnresolvable", "Pending"]);
  });

  it("are represented by the most severe one, in any order", () => {
    expect(mostSevere(["Success", "Error", "Unschedulable"])).toBe("Error");
    expect(mostSevere(["Pending", "Success", "Skip"])).toBe("Pending");
    expect(mostSevere([])).toBe(null);
  });
});
