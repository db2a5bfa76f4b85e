import { splitKey } from "../../model/names";

/** Highlights what a lesson mentions: panes, queues and stages in the document. The renderers highlight nodes. */
export function pointAt(highlights: readonly string[]): () => void {
  const elements = highlights.flatMap((highlight) => [...document.querySelectorAll(selectorOf(highlight))]);
  for (const element of elements) element.classList.add("pointed");
  return () => {
    for (const element of elements) element.classList.remove("pointed");
  };
}

/** The names of the highlighted nodes. */
export function nodesIn(highlights: readonly string[]): Set<string> {
  return new Set(highlights.filter((highlight) => highlight.startsWith("node/")).map((highlight) => highlight.slice("node/".length)));
}

function selectorOf(highlight: string): string {
  const slash = highlight.indexOf("/");
  const name = CSS.escape(highlight.slice(slash + 1));
  switch (highlight.slice(0, slash)) {
    case "pane":
      return `section[aria-labelledby="${name}-title"]`;
    case "queue":
      return `[data-queue="${name}"]`;
    case "stage":
      return `[data-stage="${name}"]`;
    case "plugin":
      return `[data-plugin="${name}"]`;
    case "pod":
      return `[data-pod="${name}"], [data-pod="${CSS.escape(splitKey(highlight.slice(slash + 1)).name)}"]`;
    default:
      return ":not(*)";
  }
}
