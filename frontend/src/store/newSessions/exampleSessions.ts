/** Sessions of the page's own examples: each has a distinct name, and an unused one is opened again instead of creating another. */
import { lastCommands } from "../../api/commands";
import { generateSession, listSessions, openSample, type SessionSummary } from "../../api/client";
import { distinctName, isNumbered } from "../../model/sessions/distinctName";
import type { Release } from "../../model/sessions/releases";

const MAX_LISTED = 200;
/** The prefix of the keys of commands that the import of a case stores. */
const CASE_KEY_PREFIX = "trace-step-";

/** The id of a generated session called `name`: an unused one, or a new one with the next free number in its name. */
export async function exampleSession(generate: Record<string, unknown>, name: string, release: Release): Promise<string> {
  const { results } = await listSessions({ part: name, sort: "-created", limit: MAX_LISTED });
  const unused = results.find((one) => isUnused(one) && one.name.startsWith(name) && one.release === release);
  return unused?.id ?? (await generateSession(generate, distinctName(name, results.map((one) => one.name)), release)).id;
}

/** The id of a session of the sample case `sample` called `name`: an unused one, or a new one with the next free number in its name. */
export async function caseSession(sample: string, name: string): Promise<string> {
  const { results } = await listSessions({ part: name, sort: "-created", limit: MAX_LISTED });
  const newest = results.find((one) => isReady(one) && isNumbered(one.name, name));
  if (newest && (await isAsImported(newest.id))) return newest.id;
  return (await openSample(sample, distinctName(name, results.map((one) => one.name)))).id;
}

/** Whether no command has followed those of the case, which have keys of their own. */
async function isAsImported(session: string): Promise<boolean> {
  const commands = await lastCommands(session, 1);
  return commands.every(({ key }) => key.startsWith(CASE_KEY_PREFIX));
}

/** The name for a session called `name`, with the next free number if there is one already. */
export async function nameOfExample(name: string): Promise<string> {
  const { results } = await listSessions({ part: name, limit: MAX_LISTED });
  return distinctName(name, results.map((one) => one.name));
}

function isReady({ status, role }: SessionSummary): boolean {
  return status === "ready" && (role ?? "owner") === "owner";
}

function isUnused(session: SessionSummary): boolean {
  return isReady(session) && session.event === 0 && !session.cycle;
}
