/** The address at which a panel of the session has the window to itself; undefined where it has it already. */
export function addressOfPanel(session: string, panel: "queue" | "cycle" | "cache"): string | undefined {
  return /^\/(embed|s\/[^/]+\/panel)\//.test(location.pathname) ? undefined : `/s/${session}/panel/${panel}/`;
}
