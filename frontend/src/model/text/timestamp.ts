/** `2026-11-22 22:16 UTC` of an RFC 3339 time; a text that is none stays as it is. */
export function printTimestamp(text: string): string {
  // Browsers read `11-26 02:51:07`, the time of a log, as a day of 2001.
  const at = new Date(/^\d{4}-/.test(text) ? text : NaN);
  return Number.isNaN(at.getTime()) ? text : `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
