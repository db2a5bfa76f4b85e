/** `ns/name` in two parts; the namespace `default` is not shown. */
export function splitKey(key: string): { namespace: string; name: string } {
  const slash = key.indexOf("/");
  return slash < 0 ? { namespace: "", name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

export function shortKey(key: string): string {
  const { namespace, name } = splitKey(key);
  return namespace === "" || namespace === "default" ? name : key;
}

/**
 * The domain that all names of nodes have in common, with its dot, such as `.eu-west-1.compute.internal`; "": they have none. Where there is
 * little room, names are shown without it: shortened in the middle, they would look the same.
 */
export function commonDomain(names: Iterable<string>): string {
  let domain: string | null = null;
  let count = 0;
  for (const name of names) {
    const dot = name.indexOf(".");
    // An IP address has no domain.
    if (dot < 1 || !/^\.[a-z]/i.test(name.slice(dot))) return "";
    domain ??= name.slice(dot);
    if (name.length - dot !== domain.length || !name.endsWith(domain)) return "";
    count++;
  }
  return count > 1 ? domain! : "";
}

export function withoutDomain(name: string, domain: string): string {
  return domain !== "" && name.endsWith(domain) ? name.slice(0, -domain.length) : name;
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
