import { describe, expect, it } from "vitest";

import { sampledRanges } from "../../../src/model/cycle/sampledRanges";

describe("the evaluated nodes of nodeInfoList", () => {
  it.each([
    ["begin where the search starts", { start: 2777, evaluated: 556, all: 5000 }, [{ first: 2778, last: 3333 }]],
    ["continue at the start of the list", { start: 90, evaluated: 20, all: 100 }, [{ first: 91, last: 100 }, { first: 1, last: 10 }]],
    ["end with the list", { start: 90, evaluated: 10, all: 100 }, [{ first: 91, last: 100 }]],
    ["are all nodes in two ranges, unless the search starts at the first", { start: 3, evaluated: 5, all: 5 }, [{ first: 4, last: 5 }, { first: 1, last: 3 }]],
    ["are none before the first is evaluated", { start: 3, evaluated: 0, all: 5 }, []],
  ])("%s", (_, funnel, ranges) => {
    expect(sampledRanges(funnel)).toEqual(ranges);
  });
});
