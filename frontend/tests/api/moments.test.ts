import { afterEach, describe, expect, it, vi } from "vitest";
import { getEventsAfter } from "../../src/api/moments";

/** A server of `last` events whose pages have at most two. */
function serve(last: number): URL[] {
  const asked: URL[] = [];
  vi.stubGlobal("fetch", (path: string) => {
    const url = new URL(path, "http://server");
    asked.push(url);
    const after = Number(url.searchParams.get("after"));
    const count = Math.min(2, Number(url.searchParams.get("limit")), last - after);
    const results = Array.from({ length: Math.max(0, count) }, (_, i) => ({ t: "restarted", event: after + i + 1 }));
    const next = after + count < last ? after + count : null;
    return Promise.resolve(new Response(JSON.stringify({ results, next })));
  });
  return asked;
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe("events after a moment", () => {
  it("are read page by page up to the limit", async () => {
    const asked = serve(100);
    expect((await getEventsAfter("s", 10, 5)).map(({ event }) => event)).toEqual([11, 12, 13, 14, 15]);
    expect(asked.map(({ searchParams }) => searchParams.get("limit"))).toEqual(["5", "3", "1"]);
  });

  it("end with the newest one, without another request", async () => {
    const asked = serve(3);
    expect((await getEventsAfter("s", 0, 50)).map(({ event }) => event)).toEqual([1, 2, 3]);
    expect(asked).toHaveLength(2);
  });
});
