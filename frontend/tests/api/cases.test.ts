import { afterEach, expect, it, vi } from "vitest";
import { listCases } from "../../src/api/cases";
import { call } from "../../src/api/call";

vi.mock("../../src/api/call", () => ({ call: vi.fn() }));

afterEach(() => { vi.mocked(call).mockReset(); });

it("asks the server for the cases again after an error, and once after that", async () => {
  vi.mocked(call).mockRejectedValueOnce(new Error("busy"));
  await expect(listCases()).rejects.toThrow("busy");
  vi.mocked(call).mockResolvedValueOnce({ results: [] });
  expect(await Promise.all([listCases(), listCases()])).toEqual([[], []]);
  expect(call).toHaveBeenCalledTimes(2);
});
