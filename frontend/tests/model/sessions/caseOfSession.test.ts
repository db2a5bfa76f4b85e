import { expect, it } from "vitest";
import { caseOf } from "../../../src/model/sessions/caseOfSession";

it("finds the case of a session by its title in English or another language, with or without a number", () => {
  const cases = [{ title: "A host port is taken" }, { title: "A GPU pod is pending" }];
  const translated = (title: string): string => (title === "A GPU pod is pending" ? "GPU Pod 待调度" : title);
  expect(caseOf("A host port is taken", cases, translated)).toBe(cases[0]);
  expect(caseOf("A host port is taken 2", cases, translated)).toBe(cases[0]);
  expect(caseOf("GPU Pod 待调度 3", cases, translated)).toBe(cases[1]);
  expect(caseOf("A host port is taken by me", cases, translated)).toBeUndefined();
});
