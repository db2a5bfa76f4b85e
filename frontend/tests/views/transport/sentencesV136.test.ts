import { describe, expect, it } from "vitest";

import type { AnyEvent } from "../../../src/model/generated";
import { eventOfV136InWords } from "../../../src/views/transport/sentencesV136";

describe("an event of the cluster that no hint considers", () => {
  const sentence = (eventLabel: string): string => eventOfV136InWords({ t: "requeueConsidered", eventLabel, decisions: [] } as unknown as AnyEvent);

  it("is named in words, with its label", () => {
    expect(sentence("AssignedPodAdd")).toBe("The new pod of a node cannot help any waiting pod (AssignedPodAdd)");
    expect(sentence("NodeAdd")).toBe("The event NodeAdd cannot help any waiting pod");
  });
});
