/** A session at a moment (an event); null: its newest. Written `<id>` or `<id>@<event>`. */
export interface MomentOf {
  session: string;
  event: number | null;
}

export function momentOf(text: string): MomentOf {
  const [session = "", event = ""] = text.split("@");
  return { session, event: /^\d{1,15}$/.test(event) ? Number(event) : null };
}

export function printMoment({ session, event }: MomentOf): string {
  return session && event !== null ? `${session}@${event}` : session;
}
