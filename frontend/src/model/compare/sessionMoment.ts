/** A moment with its session. `event` null: the newest. Written `<id>` or `<id>@<event>`. */
export interface SessionMoment {
  session: string;
  event: number | null;
}

export function sessionMomentOf(text: string): SessionMoment {
  const [session = "", event = ""] = text.split("@");
  return { session, event: /^\d{1,15}$/.test(event) ? Number(event) : null };
}

export function printSessionMoment({ session, event }: SessionMoment): string {
  return session && event !== null ? `${session}@${event}` : session;
}
