import { getEvents, getView } from "../api/moments";
import type { AnyEvent } from "../model/generated";
import { State } from "../model/state";
import { Tape } from "../model/tape";

/** The number of events before and after a moment that are fetched with it. */
const BEHIND = 800;
const AHEAD = 400;
/** The maximum number of events in one request when the end of the tape is reached. */
const MORE = 2_000;

export interface Moment {
  tape: Tape;
  /** The first moment that the server stores. */
  firstEvent: number;
}

/** Fetches the events around a moment, so that steps in both directions need no further requests. Throws ApiError. */
export async function fetchMoment(id: string, event: number, firstEvent: number, signal: AbortSignal): Promise<Moment> {
  const from = Math.max(firstEvent, event - BEHIND);
  const [answer, page] = await Promise.all([getView(id, from, signal), getEvents(id, { after: from, limit: BEHIND + AHEAD }, signal)]);
  const tape = new Tape(State.of(answer.view));
  if (!follows(tape, page.events)) await append(id, tape, event, signal);
  else tape.append(page.events);
  await append(id, tape, event, signal);
  tape.go(event);
  return { tape, firstEvent: answer.firstEvent ?? firstEvent };
}

/** Fetch the events after the end of a tape; false: there are none, or the tape is full. */
export async function fetchMore(id: string, tape: Tape, signal: AbortSignal): Promise<boolean> {
  const { events } = await getEvents(id, { after: tape.last, limit: MORE }, signal);
  return events.length > 0 && tape.append(events);
}

/** Fetch until the tape reaches an event, or the server has no more. */
async function append(id: string, tape: Tape, event: number, signal: AbortSignal): Promise<void> {
  while (tape.last < event && (await fetchMore(id, tape, signal)));
}

function follows(tape: Tape, events: readonly AnyEvent[]): boolean {
  return !events[0] || events[0].event <= tape.last + 1;
}
