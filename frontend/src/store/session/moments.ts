import { getEvents, getView } from "../../api/moments";
import type { AnyEvent } from "../../model/generated";
import { State } from "../../model/state/state";
import { EventBuffer } from "../../model/timeline/eventBuffer";

/** The number of events before and after a moment that are fetched with it. */
const EVENTS_BEFORE = 800;
const EVENTS_AFTER = 400;
/** The maximum number of events in one request when the end of the buffer is reached. */
const MAX_EVENTS = 2_000;

/** A moment as it was fetched: its state and the events around it. */
export interface FetchedMoment {
  buffer: EventBuffer;
  /** The first moment that the server stores. */
  firstEvent: number;
}

/** Fetches the events around a moment, so that steps in both directions need no further requests. Throws ApiError. */
export async function fetchMoment(id: string, event: number, firstEvent: number, signal: AbortSignal): Promise<FetchedMoment> {
  const from = Math.max(firstEvent, event - EVENTS_BEFORE);
  const [response, page] = await Promise.all([getView(id, from, signal), getEvents(id, { after: from, limit: EVENTS_BEFORE + EVENTS_AFTER }, signal)]);
  const buffer = new EventBuffer(State.of(response.view));
  if (follows(buffer, page.events)) buffer.append(page.events);
  await append(id, buffer, event, signal);
  buffer.go(event);
  return { buffer, firstEvent: response.firstEvent ?? firstEvent };
}

/** Fetch the events after the end of a buffer; false: there are none, or the buffer is full. */
export async function fetchMore(id: string, buffer: EventBuffer, signal: AbortSignal): Promise<boolean> {
  const { events } = await getEvents(id, { after: buffer.last, limit: MAX_EVENTS }, signal);
  return events.length > 0 && buffer.append(events);
}

/** Fetch until the buffer reaches an event, or the server has no more. */
async function append(id: string, buffer: EventBuffer, event: number, signal: AbortSignal): Promise<void> {
  while (buffer.last < event && (await fetchMore(id, buffer, signal)));
}

/** Whether the events continue the view of the buffer. They come from another request; if they do not, they are fetched from the view's end. */
function follows(buffer: EventBuffer, events: readonly AnyEvent[]): boolean {
  return !events[0] || events[0].event <= buffer.last + 1;
}
