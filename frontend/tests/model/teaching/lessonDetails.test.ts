import { describe, expect, it } from "vitest";
import { detailedPanels } from "../../../src/model/teaching/lessonDetails";

const stop = (en: string, question = "", highlight: string[] = []): Parameters<typeof detailedPanels>[0][number] => ({ text: { en }, question: question ? { words: { en: question } } : null, highlight });

describe("the panels that a lesson shows with details", () => {
  const stops = [stop("A pod waits in the queue."), stop("The node changes.", "What is its generation?"), stop("It goes back.", "", ["queue/errorBackoffQ"]), stop("The pod is bound.")];

  it("are none while the stops speak of pods, nodes and queues", () => {
    expect(detailedPanels(stops, 0)).toEqual(new Set());
  });
  it("follow from the texts, the questions and the highlights up to the stop, and stay", () => {
    expect(detailedPanels(stops, 1)).toEqual(new Set(["cache"]));
    expect(detailedPanels(stops, 2)).toEqual(new Set(["queue", "cache"]));
    expect(detailedPanels(stops, 3)).toEqual(new Set(["queue", "cache"]));
  });
});
