/** A comparison that needs nothing but a click: four nodes before and after a fifth is added. */
import { runCommand } from "../../api/commands";
import { generateSession, getSession } from "../../api/client";
import { whenReady } from "../../api/forks";
import { t } from "../../i18n/translate";
import { idempotencyKey } from "../../model/idempotencyKey";
import type { AnyCommand } from "../../model/generated";
import { nameOfExample } from "./exampleSessions";

const MAX_CYCLES = 100;
/** As long as backoffs last. */
const BACKOFF_SECONDS = 10;
const NODE = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "node-5", labels: { disk: "nvme" } },
  status: { allocatable: { cpu: "16", memory: "32Gi", pods: "110" } },
};

/** Makes a session, lets it run, adds a node, and lets it run again. Returns both moments, as `compare` takes them. */
export async function beforeAndAfterNode(signal: AbortSignal): Promise<{ a: string; b: string }> {
  const { id } = await generateSession({ shape: "demo" }, await nameOfExample(t("compare.ready.name")), "");
  await whenReady(id, signal);
  const run = (command: AnyCommand): Promise<unknown> => runCommand(id, { ...command, key: idempotencyKey() }, signal);
  await run({ op: "run", max: MAX_CYCLES });
  const { event = 0 } = await getSession(id);
  await run({ op: "create", object: NODE });
  await run({ op: "advance", seconds: BACKOFF_SECONDS });
  await run({ op: "run", max: MAX_CYCLES });
  return { a: `${id}@${event}`, b: id };
}
