/** Whether a name is `name` itself, or `name` with a number behind it. */
export function isNumbered(one: string, name: string): boolean {
  return one.startsWith(name) && /^( \d+)?$/.test(one.slice(name.length));
}

/** A name without the number that `distinctName` puts behind it. */
export function withoutNumber(name: string): string {
  return name.replace(/ \d+$/, "");
}

/** The first session of each family in `names`: sessions called `name` with or without a number are shown once. Other sessions stay. */
export function withoutRepeats<T extends { name: string }>(sessions: readonly T[], names: readonly string[]): T[] {
  const familyOf = (one: T): string | undefined => names.find((name) => isNumbered(one.name, name));
  return sessions.filter((one, i) => {
    const family = familyOf(one);
    return family === undefined || sessions.findIndex((earlier) => familyOf(earlier) === family) === i;
  });
}

/** A name that no other has: `name` itself, or with the next free number behind it. */
export function distinctName(name: string, taken: readonly string[]): string {
  const all = new Set(taken);
  if (!all.has(name)) return name;
  for (let number = 2; ; number++) if (!all.has(`${name} ${number}`)) return `${name} ${number}`;
}
