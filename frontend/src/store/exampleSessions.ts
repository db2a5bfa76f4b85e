/** Sessions that the page makes from its own examples: each has a name of its own, and one that nobody has used yet is opened again. */
import { generateSession, listSessions, type SessionSummary } from "../api/client";
import { distinctName } from "../model/distinctName";
import type { Release } from "../model/releases";

const MAX_LISTED = 200;

/** The id of a generated session called `name`: an unused one, or a new one with the next free number in its name. */
export async function exampleSession(generate: Record<string, unknown>, name: string, release: Release): Promise<string> {
  const { results } = await listSessions({ part: name, sort: "-created", limit: MAX_LISTED });
  const unused = results.find((one) => isUnused(one) && one.name.startsWith(name) && one.release === release);
  return unused?.id ?? (await generateSession(generate, distinctName(name, results.map((one) => one.name)), release)).id;
}

/** The name for a session called `name`, with the next free number if there is one already. */
export async function nameOfExample(name: string): Promise<string> {
  const { results } = await listSessions({ part: name, limit: MAX_LISTED });
  return distinctName(name, results.map((one) => one.name));
}

function isUnused({ status, role, event, cycle }: SessionSummary): boolean {
  return status === "ready" && (role ?? "owner") === "owner" && event === 0 && !cycle;
}
