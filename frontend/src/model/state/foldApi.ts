import type { ApiWritten, HelperSet, LatencySet, WatchChanged, WatchDelivered, WatchSent } from "../generated";
import type { State } from "./state";

export function foldApiWritten(state: State, event: ApiWritten): void {
  if (event.error) return;
  if (event.count) state.api.objects.set(event.kind, event.count);
  else state.api.objects.delete(event.kind);
}

export function foldWatchSent(state: State, event: WatchSent): void {
  const { id = 0, verb, resource, key, dueSeconds = 0 } = event;
  const sent = { id, verb, resource, key, dueSeconds };
  const later = state.api.inFlight.findIndex((other) => other.dueSeconds > dueSeconds || (other.dueSeconds === dueSeconds && other.id > id));
  state.api.inFlight = later < 0 ? [...state.api.inFlight, sent] : state.api.inFlight.toSpliced(later, 0, sent);
}

export function foldWatchDelivered(state: State, event: WatchDelivered): void {
  if (event.id && state.api.inFlight.length) state.api.inFlight = state.api.inFlight.filter((sent) => sent.id !== event.id);
}

export function foldLatencySet(state: State, event: LatencySet): void {
  if (event.seconds) state.api.latencies.set(event.kind, event.seconds);
  else state.api.latencies.delete(event.kind);
}

export function foldWatchChanged(state: State, event: WatchChanged): void {
  const { kind, connected = true, unseen = 0, drops = 0 } = event;
  if (connected && !unseen && !drops) state.api.watches.delete(kind);
  else state.api.watches.set(kind, { connected, unseen, drops });
}

export function foldHelperSet(state: State, event: HelperSet): void {
  if (event.on ?? true) state.api.helpers.set(event.name, event.seconds ?? 0);
  else state.api.helpers.delete(event.name);
}
