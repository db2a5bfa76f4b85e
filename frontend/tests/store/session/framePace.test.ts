import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { FramePace } from "../../../src/store/session/framePace";

let frames: (() => void)[];
let given: string[];
let pace: FramePace<string>;

/** The browser draws a frame, and the task after it runs. */
function draw(): void {
  for (const frame of frames.splice(0)) frame();
  vi.advanceTimersByTime(1);
}

function take(...messages: string[]): void {
  for (const message of messages) pace.take(message);
}

beforeEach(() => {
  vi.useFakeTimers();
  frames = [];
  given = [];
  vi.stubGlobal("document", { hidden: false });
  vi.stubGlobal("requestAnimationFrame", (frame: () => void) => frames.push(frame));
  pace = new FramePace(
    (message) => given.push(message),
    (message) => message.startsWith("frame"),
  );
});

afterEach(() => {
  pace.close();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("messages", () => {
  it("are delivered at once while no frame is being drawn", () => {
    take("ack", "frame 1");
    expect(given).toEqual(["ack", "frame 1"]);
  });

  it("that arrive before a frame is drawn are delivered together after it, in order", () => {
    take("frame 1", "ack", "frame 2", "outcome");
    expect(given).toEqual(["frame 1"]);
    draw();
    expect(given).toEqual(["frame 1", "ack", "frame 2", "outcome"]);
    take("frame 3");
    expect(given).not.toContain("frame 3");
    draw();
    expect(given).toContain("frame 3");
  });

  it("are delivered after a second even if no frame is drawn", () => {
    take("frame 1", "frame 2");
    vi.advanceTimersByTime(1_000);
    expect(given).toEqual(["frame 1", "frame 2"]);
    draw();
    take("frame 3");
    expect(given).toContain("frame 3");
  });

  it("are delivered at once in a hidden tab", () => {
    vi.stubGlobal("document", { hidden: true });
    take("frame 1", "frame 2");
    expect(given).toEqual(["frame 1", "frame 2"]);
  });

  it("that wait to be drawn are dropped before a new view, and no others", () => {
    take("frame 1", "frame 2", "outcome");
    pace.forgetDrawn();
    draw();
    expect(given).toEqual(["frame 1", "outcome"]);
  });
});
