import { deflateSync } from "node:zlib";

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { decodeMessage, OrderedDecoder } from "../../src/wire/decode";
import type { ServerMessage } from "../../src/wire/messages";
import type { ConnectionState } from "../../src/wire/reconnectingSocket";
import { RoomSocket } from "../../src/wire/roomSocket";
import { SessionSocket } from "../../src/wire/sessionSocket";

const binary = (message: object): ArrayBuffer => new Uint8Array(deflateSync(JSON.stringify(message))).buffer;

describe("a message", () => {
  it("is zlib over JSON when it is binary", async () => {
    expect(await decodeMessage(binary({ type: "frame", chunk: 3 }))).toEqual({ type: "frame", chunk: 3 });
    expect(await decodeMessage('{"type":"heartbeat"}')).toEqual({ type: "heartbeat" });
  });

  it("is delivered in order of arrival, however long it takes to decode", async () => {
    const got: number[] = [];
    const fail = vi.fn();
    const decoder = new OrderedDecoder((message) => got.push((message as { chunk: number }).chunk), fail);
    decoder.take(binary({ type: "frame", chunk: 1, pad: "x".repeat(3_000_000) }));
    decoder.take(binary({ type: "frame", chunk: 2 }));
    decoder.take('{"type":"heartbeat","chunk":3}');
    decoder.take("no JSON");
    await vi.waitFor(() => {
      expect(fail).toHaveBeenCalledOnce();
    });
    expect(got).toEqual([1, 2, 3]);
  });
});

class FakeSocket {
  static readonly made: FakeSocket[] = [];
  static readonly OPEN = 1;
  binaryType = "";
  readyState = 1;
  readonly sent: string[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  constructor(readonly url: string) {
    FakeSocket.made.push(this);
  }
  send(text: string): void {
    this.sent.push(text);
  }
  close(code = 1000): void {
    this.onclose?.({ code });
  }
}

const newest = (): FakeSocket => FakeSocket.made.at(-1)!;

function useFakeSockets(): void {
  vi.useFakeTimers();
  vi.stubGlobal("WebSocket", FakeSocket);
  FakeSocket.made.length = 0;
}

function useRealSockets(): void {
  vi.useRealTimers();
  vi.unstubAllGlobals();
}

describe("the connection to a session", () => {
  const states: ConnectionState[] = [];
  const messages: ServerMessage[] = [];
  const connect = (): SessionSocket => {
    const socket = new SessionSocket(
      "ws://x/",
      { message: (message) => messages.push(message), stateChanged: (state) => states.push(state), roundTrip: () => undefined },
      (url) => new FakeSocket(url) as unknown as WebSocket,
    );
    socket.connect();
    return socket;
  };

  beforeEach(() => {
    useFakeSockets();
    states.length = messages.length = 0;
  });
  afterEach(useRealSockets);

  it("reconnects after a disconnect, and resumes after the last chunk", async () => {
    connect();
    newest().onopen?.();
    newest().onmessage?.({ data: '{"type":"view","chunk":7}' });
    await vi.advanceTimersByTimeAsync(0);
    newest().close(1006);
    expect(states.at(-1)).toBe("waiting");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(newest().url).toBe("ws://x/?from=7");
  });

  it("requests missing chunks and delivers each chunk once", async () => {
    connect();
    newest().onopen?.();
    for (const [firstChunk, chunk] of [
      [1, 3],
      [2, 3],
      [4, 4],
      [7, 8],
    ])
      newest().onmessage?.({ data: JSON.stringify({ type: "frame", firstChunk, chunk }) });
    await vi.advanceTimersByTimeAsync(0);
    expect(messages.map((message) => (message as { chunk: number }).chunk)).toEqual([3, 4]);
    expect(newest().sent).toEqual(['{"type":"resume","from":4}']);
  });

  it("sends unacknowledged commands again with the same key", async () => {
    const socket = connect();
    newest().onopen?.();
    socket.send({ type: "command", key: "lost", command: { op: "pause" } });
    socket.send({ type: "command", key: "kept", command: { op: "pause" } });
    newest().onmessage?.({ data: '{"type":"ack","key":"kept","seq":1}' });
    await vi.advanceTimersByTimeAsync(0);
    newest().close(1006);
    await vi.advanceTimersByTimeAsync(1_000);
    newest().onopen?.();
    expect(newest().sent.map((text) => (JSON.parse(text) as { key?: string }).key)).toEqual(["lost"]);
  });

  it("does not reconnect after a refusal", () => {
    connect();
    newest().close(4404);
    expect(states.at(-1)).toBe("closed");
    expect(FakeSocket.made).toHaveLength(1);
  });

  it("waits longer after each failure, up to a limit", async () => {
    connect();
    for (let i = 0; i < 12; i++) {
      newest().close(1006);
      await vi.advanceTimersByTimeAsync(12_600);
    }
    expect(FakeSocket.made).toHaveLength(13);
  });
});

describe("the connection to a room", () => {
  beforeEach(useFakeSockets);
  afterEach(useRealSockets);

  it("sends a report once, and the newest one again after a reconnect", async () => {
    const room = new RoomSocket("ws://x/", { message: () => undefined, stateChanged: () => undefined }, (url) => new FakeSocket(url) as unknown as WebSocket);
    room.connect();
    newest().onopen?.();
    for (const following of [true, false, false]) room.report({ type: "following", following });
    expect(newest().sent).toEqual(['{"type":"following","following":true}', '{"type":"following","following":false}']);

    newest().close(1006);
    await vi.advanceTimersByTimeAsync(1_000);
    newest().onopen?.();
    expect(newest().sent).toEqual(['{"type":"following","following":false}']);
  });
});
