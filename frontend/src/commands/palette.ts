/** Searches the command palette: commands, pods and nodes, and an action with its object. */

/** The text that queries are matched with. `extra` is searched and not shown: the English name of a command, its id. */
export interface Findable {
  title: string;
  extra?: string;
}

/** The entries that contain every word of the query, best first; all entries in their order for an empty query. */
export function ranked<Entry extends Findable>(entries: readonly Entry[], query: string): Entry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [...entries];
  const scored: { entry: Entry; score: number }[] = [];
  for (const entry of entries) {
    const score = scoreOf(entry, words);
    if (score !== null) scored.push({ entry, score });
  }
  return scored.sort((a, b) => a.score - b.score).map(({ entry }) => entry);
}

/** Lower is better: a match at the beginning, then at the beginning of a word, then anywhere; shorter names first. */
function scoreOf(entry: Findable, words: readonly string[]): number | null {
  const title = entry.title.toLowerCase();
  const all = `${title} ${entry.extra?.toLowerCase() ?? ""}`;
  let score = title.length / 1000;
  for (const word of words) {
    const index = all.indexOf(word);
    if (index < 0) return null;
    if (index === 0) continue;
    score += /[\s/.-]/.test(all[index - 1]!) ? 1 : 2;
    if (index >= title.length) score += 2;
  }
  return score;
}

/** Splits "cordon node-17" into the action that the first word starts, and the rest. */
export function actionIn<Action extends Findable>(actions: readonly Action[], query: string): { action: Action; about: string } | null {
  const [first = "", ...rest] = query.trim().toLowerCase().split(/\s+/);
  if (first.length < 2) return null;
  const action = actions.find(({ title, extra = "" }) => [title, extra].some((name) => name.toLowerCase().startsWith(first)));
  return action ? { action, about: rest.join(" ") } : null;
}
