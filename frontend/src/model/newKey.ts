/** A key that nobody else makes. `crypto.randomUUID` needs a secure context, which a plain http address in a workshop is not. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
