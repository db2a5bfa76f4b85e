import { printPermalink, type Permalink } from "../../model/permalink";

/** The address of a page with only this panel; undefined if the page already is one. */
export function addressOfPanel(session: string, panel: "queue" | "cycle" | "cache"): string | undefined {
  return /^\/(embed|s\/[^/]+\/panel)\//.test(location.pathname) ? undefined : `/s/${session}/panel/${panel}/`;
}

/** The address of the whole page at a moment, with the share link of the panel's address. */
export function addressOfPage(session: string, permalink: Permalink, search: string): string {
  const link = new URLSearchParams(search).get("link");
  return `/s/${session}/${printPermalink(permalink, link ? `link=${link}` : "")}`;
}
