import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { call } from "../../src/api/call";

vi.mock("../../src/api/shareLink", () => ({ linkHeaders: () => ({}) }));

const busy = (): Response => new Response(JSON.stringify({ code: "busy", detail: "Busy." }), { status: 503, headers: { "Retry-After": "2" } });
const done = (): Response => new Response("7");

describe("requests to a busy server", () => {
  const fetched = vi.fn<() => Promise<Response>>();

  beforeEach(() => {
    vi.useFakeTimers();
    vi.stubGlobal("fetch", fetched);
    vi.stubGlobal("document", { querySelector: () => null });
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
    fetched.mockReset();
  });

  it("repeats a request that only reads", async () => {
    fetched.mockResolvedValueOnce(busy()).mockResolvedValueOnce(busy()).mockResolvedValueOnce(done());
    const result = call("GET", "sessions/");
    await vi.advanceTimersByTimeAsync(1000);
    expect(fetched).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(6000);
    expect(await result).toBe(7);
  });

  it("gives up after some time", async () => {
    fetched.mockImplementation(() => Promise.resolve(busy()));
    const result = call("GET", "sessions/").catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await result).toMatchObject({ status: 503, code: "busy" });
    expect(fetched).toHaveBeenCalledTimes(6);
  });

  it("does not repeat a request that changes something, or that is no longer needed", async () => {
    fetched.mockImplementation(() => Promise.resolve(busy()));
    await expect(call("POST", "sessions/")).rejects.toMatchObject({ code: "busy" });
    expect(fetched).toHaveBeenCalledTimes(1);
    const controller = new AbortController();
    const result = call("GET", "sessions/", { signal: controller.signal }).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(0);
    controller.abort();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await result).toMatchObject({ name: "AbortError" });
    expect(fetched).toHaveBeenCalledTimes(2);
  });
});
