/** The share link that grants this page access. An embedded page has no cookie, so each request carries the link. */
let link = "";

export function useShareLink(secret: string): void {
  link = secret;
}

/** Headers for REST; empty: the cookie authenticates. */
export function linkHeaders(): Record<string, string> {
  return link ? { Authorization: `Bearer ${link}` } : {};
}

/** Subprotocols for a WebSocket, because browsers let scripts set no other header. A URL would appear in logs. */
export function linkProtocols(): string[] {
  return link ? ["v1.schedviz", `link.schedviz.${link}`] : [];
}
