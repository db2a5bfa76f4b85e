/** `2026-11-22 22:16 UTC` of an RFC 3339 time; a text that is none stays as it is. */
export function printTimestamp(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
