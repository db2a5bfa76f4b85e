import "../../i18n/v136";
import { fetchDevices } from "../../api/devices";
import { getEventsAfter } from "../../api/moments";
import { t } from "../../i18n/translate";
import { shortKey } from "../../model/names";
import { MoveReader } from "../../model/queue/queueMoves";
import { RECALLED_EVENTS } from "../../store/requests/recentMoves.svelte";
import type { SessionStore } from "../../store/session/sessionStore.svelte";

/** What only v1.36 knows and the command palette finds. `extra` is searched, too. */
export interface Fact {
  id: string;
  title: string;
  extra: string;
  kind: "group" | "claim" | "event" | "answer";
  run(): void;
}

/** Pod groups, claims, events in flight, and the last answers of hints at the shown moment. `openDevices` shows a claim that no pod has. */
export async function factsOf(store: SessionStore, openDevices: () => void, signal: AbortSignal): Promise<Fact[]> {
  const state = store.current;
  if (!state) return [];
  const choose = (pod: string): void => { store.selection.select({ kind: "pod", name: pod }); };
  const groups = [...state.podGroups].map(
    ([group, { unscheduledPods, allPods }]): Fact => ({
      id: `group/${group}`,
      title: t("palette.group.pods", { group: shortKey(group), pods: allPods.length, waiting: unscheduledPods.length }),
      extra: "pod group gang",
      kind: "group",
      run() {
        const pod = unscheduledPods[0] ?? allPods[0];
        if (pod) choose(pod);
      },
    }),
  );
  const inFlight = state.queue.inFlight.flatMap(({ event, old, new: fresh }, place): Fact[] =>
    event ? [{ id: `event/${place}`, title: `${event} ${fresh || old || ""}`.trim(), extra: "in flight event", kind: "event", run: showInFlight }] : [],
  );
  const [hints, claims] = await Promise.all([hintsOf(store, choose, signal), claimsOf(store, choose, openDevices, signal)]);
  return [...groups, ...claims, ...inFlight, ...hints];
}

/** The answers of hints among the last events, newest first. */
async function hintsOf(store: SessionStore, choose: (pod: string) => void, signal: AbortSignal): Promise<Fact[]> {
  const events = await getEventsAfter(store.id, Math.max(0, store.event - RECALLED_EVENTS), RECALLED_EVENTS, signal);
  const lines = new MoveReader().linesOf(events.filter(({ event }) => event <= store.event)).reverse();
  return lines.flatMap(({ event, pods, requeue }) => {
    const pod = pods[0];
    if (!pod || !requeue) return [];
    return requeue.answers.map(
      ({ plugin, hint, on }): Fact => ({
        id: `answer/${event}/${plugin}/${on}/${pod}`,
        title: t("palette.answer.of", { plugin, hint, pod: shortKey(pod), label: requeue.label }),
        extra: `queueing hint ${requeue.object}`,
        kind: "answer",
        run() {
          void store.playback.seek(event);
          choose(pod);
        },
      }),
    );
  });
}

async function claimsOf(store: SessionStore, choose: (pod: string) => void, openDevices: () => void, signal: AbortSignal): Promise<Fact[]> {
  if (!store.current?.api.objects.get("ResourceClaim")) return [];
  const { claims = [] } = await fetchDevices(store.id, store.event, signal);
  return claims.map(({ claim, state, pods = [], devices = [] }): Fact => {
    const pod = pods[0];
    return {
      id: `claim/${claim}`,
      title: shortKey(claim),
      extra: ["resource claim", state, ...devices.map(({ device }) => device)].join(" "),
      kind: "claim",
      run: pod ? () => { choose(pod); } : openDevices,
    };
  });
}

function showInFlight(): void {
  document.querySelector("[data-in-flight-entry]")?.scrollIntoView({ block: "center" });
}
