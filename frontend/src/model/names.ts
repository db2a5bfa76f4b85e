/** `ns/name` in two parts; the namespace `default` is not shown. */
export function splitKey(key: string): { namespace: string; name: string } {
  const slash = key.indexOf("/");
  return slash < 0 ? { namespace: "", name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

export function shortKey(key: string): string {
  const { namespace, name } = splitKey(key);
  return namespace === "" || namespace === "default" ? name : key;
}

/** The zone in a node tree's key, which upstream writes as "region:\0:zone"; `alone`: without its region, if it has both. */
export function printZone(key: string, alone = false): string {
  const [region = "", zone = ""] = key.split(":\u0000:");
  return alone && zone ? zone : [region, zone].filter(Boolean).join(" / ");
}

export function regionOf(key: string): string {
  return key.split(":\u0000:")[0] ?? "";
}

/** Natural order of names: `node-2` before `node-10`. */
export const compareNames = new Intl.Collator("en", { numeric: true }).compare;

/** An empty set of names. */
export const NO_NAMES: ReadonlySet<string> = new Set();
