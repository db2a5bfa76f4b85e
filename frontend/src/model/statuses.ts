/** The Status codes of upstream's framework, and how each is known on every panel: one key for its colour, one for its glyph. */
export const STATUS_CODES = ["Success", "Error", "Unschedulable", "UnschedulableAndUnresolvable", "Wait", "Skip"] as const;

export type StatusCode = (typeof STATUS_CODES)[number];

export function isStatusCode(code: string): code is StatusCode {
  return (STATUS_CODES as readonly string[]).includes(code);
}

/** The worst of several codes, as RunFilterPlugins and its like would let it win. */
const GRAVITY: Record<StatusCode, number> = {
  Skip: 0,
  Success: 1,
  Wait: 2,
  Unschedulable: 3,
  UnschedulableAndUnresolvable: 4,
  Error: 5,
};

export function worst(codes: readonly string[]): StatusCode | null {
  let found: StatusCode | null = null;
  for (const code of codes) if (isStatusCode(code) && (found === null || GRAVITY[code] > GRAVITY[found])) found = code;
  return found;
}
