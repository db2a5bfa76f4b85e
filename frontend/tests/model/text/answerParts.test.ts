import { expect, test } from "vitest";
import { answerParts } from "../../../src/model/text/answerParts";
import { printTimestamp } from "../../../src/model/text/timestamp";

const part = (template: string) => ({ template, values: {} });

test("the detail of a pending pod is the answer, and the other parts follow it", () => {
  const values = { state: part("a is pending"), detail: part("requests 64"), fits: part("None fits."), outlook: part("Not now.") };
  expect(answerParts({ template: "", values })).toEqual({ answer: values.detail, rest: [values.fits, values.outlook] });
  expect(answerParts({ template: "{pod} is scheduled", values: { pod: "a" } })).toBeNull();
  expect(answerParts({ template: "", values: { state: values.state, answer: values.detail } })).toEqual({ answer: values.detail, rest: [] });
  expect(answerParts(null)).toBeNull();
});

test("timestamps are printed in UTC, without seconds", () => {
  expect(printTimestamp("2026-11-22T22:16:56Z")).toBe("2026-11-22 22:16 UTC");
  expect(printTimestamp("2026-11-22T22:16:56+01:00")).toBe("2026-11-22 21:16 UTC");
  expect(printTimestamp("yesterday")).toBe("yesterday");
});
