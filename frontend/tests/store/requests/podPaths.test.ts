import { afterEach, describe, expect, it, vi } from "vitest";
import { PodPath } from "../../../src/store/requests/podPaths.svelte";

/** A server with a pod whose history has one cache operation per event, of which requests get a part. */
function serve(last: number): void {
  vi.stubGlobal("fetch", (path: string) => {
    const { pathname, searchParams } = new URL(path, "http://server");
    const number = (name: string): number => Number(searchParams.get(name));
    if (pathname.endsWith("/events/")) {
      return Promise.resolve(new Response(JSON.stringify({ results: [{ t: "cachePod", op: "update", event: number("after") + 1 }], next: null })));
    }
    const entries = Array.from({ length: Math.min(last, number("at")) }, (_, i) => ({ t: "cachePod", event: i + 1 }));
    const results = searchParams.has("tail") ? entries.slice(-number("tail")) : entries.slice(0, number("limit"));
    return Promise.resolve(new Response(JSON.stringify({ at: number("at"), lives: [], results, next: null, previous: null })));
  });
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe("PodPath", () => {
  it("ends with the newest operations of a long history", async () => {
    serve(900);
    const path = new PodPath("s");
    path.want("default/web", 800);
    await vi.waitFor(() => {
      expect(path.pod).toBe("default/web");
    });
    expect(path.operations.at(-1)?.event).toBe(800);
    expect(path.operations).toHaveLength(24);
    path.close();
  });
});
