/** A name that no other has: `name` itself, or with the next free number behind it. */
export function distinctName(name: string, taken: readonly string[]): string {
  const all = new Set(taken);
  if (!all.has(name)) return name;
  for (let number = 2; ; number++) if (!all.has(`${name} ${number}`)) return `${name} ${number}`;
}
