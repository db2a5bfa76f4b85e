import { call } from "./call";

/** Where runs of a session stop. `hits`: how many it has stopped, `lastEvent`: at which event the last of them. */
export interface Breakpoint {
  number: number;
  when: string;
  enabled: boolean;
  hits: number;
  lastEvent: number | null;
}

/** By number; `most`: how many there may be. */
export function listBreakpoints(id: string): Promise<{ results: Breakpoint[]; most: number }> {
  return call("GET", `sessions/${id}/breakpoints/`);
}

export function addBreakpoint(id: string, when: string): Promise<Breakpoint> {
  return call("POST", `sessions/${id}/breakpoints/`, { body: { when } });
}

export function changeBreakpoint(id: string, number: number, change: { when?: string; enabled?: boolean }): Promise<Breakpoint> {
  return call("PATCH", `sessions/${id}/breakpoints/${number}/`, { body: change });
}

export function deleteBreakpoint(id: string, number: number): Promise<void> {
  return call("DELETE", `sessions/${id}/breakpoints/${number}/`);
}
