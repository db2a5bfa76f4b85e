/** The Status codes of upstream's framework; each has one key for its colour and one for its glyph, on every panel. */
export const STATUS_CODES = ["Success", "Error", "Unschedulable", "UnschedulableAndUnresolvable", "Wait", "Skip"] as const;

export type StatusCode = (typeof STATUS_CODES)[number];

export function isStatusCode(code: string): code is StatusCode {
  return (STATUS_CODES as readonly string[]).includes(code);
}

/** The code with the highest precedence, as in RunFilterPlugins. */
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
