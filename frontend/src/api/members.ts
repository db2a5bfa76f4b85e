import { call } from "./call";

/** The roles of a member. */
export type MemberRole = "viewer" | "editor";

/** A user who has access to the session. */
export interface Member {
  user: string;
  role: MemberRole | "owner";
}

/** An invite link. Users who accept it become members. Its URL is returned only when it is created. */
export interface Invite {
  id: number;
  role: MemberRole;
  usesLeft: number;
  expiresAt: string;
  note: string;
  url?: string | null;
}

/** The owner comes first. */
export async function listMembers(session: string): Promise<Member[]> {
  return (await call<{ results: Member[] }>("GET", `sessions/${session}/members/`)).results;
}

export function addMember(session: string, user: string, role: MemberRole): Promise<Member> {
  return call("POST", `sessions/${session}/members/`, { body: { user, role } });
}

export function changeMember(session: string, user: string, role: MemberRole): Promise<Member> {
  return call("PATCH", `sessions/${session}/members/${encodeURIComponent(user)}/`, { body: { role } });
}

export function removeMember(session: string, user: string): Promise<void> {
  return call("DELETE", `sessions/${session}/members/${encodeURIComponent(user)}/`);
}

export async function listInvites(session: string): Promise<Invite[]> {
  return (await call<{ results: Invite[] }>("GET", `sessions/${session}/invites/`)).results;
}

export function makeInvite(session: string, terms: { role: MemberRole; uses: number; days: number; note: string }): Promise<Invite> {
  return call("POST", `sessions/${session}/invites/`, { body: terms });
}

export function revokeInvite(session: string, id: number): Promise<void> {
  return call("DELETE", `sessions/${session}/invites/${id}/`);
}
