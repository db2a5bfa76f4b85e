/** Whether a name is `name` itself, or `name` with a number behind it. */
export function isNumbered(one: string, name: string): boolean {
  return one.startsWith(name) && /^( \d+)?$/.test(one.slice(name.length));
}

/** A name that no other has: `name` itself, or with the next free number behind it. */
export function distinctName(name: string, taken: readonly string[]): string {
  const all = new Set(taken);
  if (!all.has(name)) return name;
  for (let number = 2; ; number++) if (!all.has(`${name} ${number}`)) return `${name} ${number}`;
}
