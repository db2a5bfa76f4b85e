/** Any JSON value as a short text: lists with commas, objects as `member value`, "–" for nothing. */
export function printValue(value: unknown): string {
  if (value === null || value === undefined || value === "") return "–";
  if (Array.isArray(value)) return value.length ? value.map(printValue).join(", ") : "–";
  if (typeof value === "object") {
    const members = Object.entries(value);
    return members.length ? members.map(([name, member]) => `${name} ${printValue(member)}`).join(" · ") : "–";
  }
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}
