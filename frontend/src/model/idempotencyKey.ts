/** A new key, with which the server recognizes a repeated request. `crypto.randomUUID` needs a secure context, which plain http in a workshop is not. */
export function idempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
