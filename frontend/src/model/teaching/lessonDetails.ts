/** A panel whose details the page hides in the simple view. */
export type DetailedPanel = "queue" | "cycle" | "cache" | "api";

/** Words in the English text of a stop that name what a panel shows only with its details. */
const DETAILS: Readonly<Record<DetailedPanel, RegExp>> = {
  queue: /moveRequestCycle|schedulingCycle|in-flight|\bnominat|errorBackoffQ|latest moves|queue\/(errorBackoffQ|nominated)/i,
  cycle: /\bmatrix\b|normali[sz]|raw score|CycleState|binding cycle/i,
  cache: /\bgeneration|\bsnapshot|headNode|linked list|nodeTree|imageStates|podStates|untouched|waterline/i,
  api: /watch event|in flight|pane\/api/i,
};

interface Stop {
  text: { en: string };
  question?: { words: { en: string } } | null;
  highlight: readonly string[];
}

/** The panels whose details the stops of a lesson up to `index` speak about. What a stop has brought up stays. */
export function detailedPanels(stops: readonly Stop[], index: number): ReadonlySet<DetailedPanel> {
  const said = stops.slice(0, index + 1).map(({ text, question, highlight }) => [text.en, question?.words.en ?? "", ...highlight].join(" "));
  return new Set((Object.keys(DETAILS) as DetailedPanel[]).filter((panel) => said.some((words) => DETAILS[panel].test(words))));
}
