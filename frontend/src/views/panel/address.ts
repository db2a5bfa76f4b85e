import { searchOf, type Place } from "../../model/permalink";

/** The address at which a panel of the session has the window to itself; undefined where it has it already. */
export function addressOfPanel(session: string, panel: "queue" | "cycle" | "cache"): string | undefined {
  return /^\/(embed|s\/[^/]+\/panel)\//.test(location.pathname) ? undefined : `/s/${session}/panel/${panel}/`;
}

/** The whole page of a session at a moment; a share link in the panel's address goes along. */
export function addressOfPage(session: string, place: Place, search: string): string {
  const link = new URLSearchParams(search).get("link");
  return `/s/${session}/${searchOf(place, link ? `link=${link}` : "")}`;
}
