/** A selected pod (`namespace/name`) or node. */
export interface Selection {
  kind: "pod" | "node";
  name: string;
}

/** What a permalink stores: a moment of the session, and what is selected. Members that are absent are not set. */
export interface Permalink {
  /** The event of the shown moment; missing: the newest. */
  at?: number;
  /** A cycle whose end to show; the page replaces it with `at`. */
  cycle?: number;
  select?: Selection;
  /** The drawer's tab. */
  tab?: string;
}

export function parsePermalink(search: string): Permalink {
  const parameters = new URLSearchParams(search);
  const permalink: Permalink = {};
  const at = wholeNumber(parameters.get("at"));
  if (at !== null) permalink.at = at;
  const cycle = wholeNumber(parameters.get("cycle"));
  if (cycle !== null) permalink.cycle = cycle;
  const select = selectionOf(parameters.get("select") ?? "");
  if (select) permalink.select = select;
  const tab = parameters.get("tab");
  if (tab) permalink.tab = tab;
  return permalink;
}

/** The query string with this permalink. Other parameters are kept. */
export function printPermalink(permalink: Permalink, search = ""): string {
  const query = new URLSearchParams(search);
  const put = (name: string, value: string | number | undefined): void => {
    if (value === undefined || value === "") query.delete(name);
    else query.set(name, String(value));
  };
  put("at", permalink.at);
  put("cycle", permalink.cycle);
  put("select", permalink.select && `${permalink.select.kind}:${permalink.select.name}`);
  put("tab", permalink.tab);
  const printed = query.toString().replace(/%2F/g, "/").replace(/%3A/g, ":");
  return printed ? `?${printed}` : "";
}

/** Whether a query string has members of a permalink, or names an everyday case. */
export function hasPermalink(search: string): boolean {
  return Object.keys(parsePermalink(search)).length > 0 || new URLSearchParams(search).has("case");
}

const OVERVIEW = "overview";
const ANSWER = "answer";

/** The query string that opens the overview of pending pods. */
export const SHOW_OVERVIEW = `?show=${OVERVIEW}`;

/** The query string of a new import: the overview, or the explanation of the pod if only one is pending. */
export const SHOW_ANSWER = `?show=${ANSWER}`;

/** Whether a query string opens the overview of pending pods, or the explanation of the only one. */
export function showsOverview(search: string): boolean {
  return [OVERVIEW, ANSWER].includes(new URLSearchParams(search).get("show") ?? "");
}

/** Whether a query string opens the explanation of the pod if only one is pending. */
export function showsAnswer(search: string): boolean {
  return new URLSearchParams(search).get("show") === ANSWER;
}

/** The query string that opens neither. */
export function withoutShow(search: string): string {
  const query = new URLSearchParams(search);
  query.delete("show");
  const rest = query.toString();
  return rest ? `?${rest}` : "";
}

function selectionOf(text: string): Selection | null {
  const [, kind, name] = /^(pod|node):(.+)$/.exec(text) ?? [];
  return kind && name ? { kind: kind as Selection["kind"], name } : null;
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}
