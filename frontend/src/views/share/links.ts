import { call } from "../../api/call";

/** A share link; its URL is returned once, when it is created. */
export interface ShareLink {
  id: number;
  role: "viewer" | "editor";
  createdAt: string;
  url?: string | null;
}

export async function listLinks(session: string): Promise<ShareLink[]> {
  return (await call<{ results: ShareLink[] }>("GET", `sessions/${session}/links/`)).results;
}

export function makeLink(session: string, role: ShareLink["role"]): Promise<ShareLink> {
  return call("POST", `sessions/${session}/links/`, { body: { role } });
}

export function revokeLink(session: string, id: number): Promise<void> {
  return call("DELETE", `sessions/${session}/links/${id}/`);
}
