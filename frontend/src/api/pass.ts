/** The share link that lets this page in. A page inside another site has no cookie: each request carries the link itself. */
let link = "";

export function enterBy(secret: string): void {
  link = secret;
}

/** For REST; empty: the cookie speaks. */
export function passHeaders(): Record<string, string> {
  return link ? { Authorization: `Bearer ${link}` } : {};
}

/** For a WebSocket, to which a browser lets no script add another header: subprotocols to offer. An address would be logged on the way. */
export function passProtocols(): string[] {
  return link ? ["v1.schedviz", `link.schedviz.${link}`] : [];
}
