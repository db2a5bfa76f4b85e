import type { SessionStore } from "../../store/session/sessionStore.svelte";
import { nodesIn } from "./pointing";

/** A part of the page that a lesson's text links to: `node:node-a`, `pod:default/web`, `pane:cache`. */
interface Target {
  kind: string;
  name: string;
}

function targetOf(event: Event): Target | null {
  const link = (event.target as Element).closest("a[href]");
  const [, kind = "", name = ""] = /^(node|pod|pane):(.+)$/.exec(link?.getAttribute("href") ?? "") ?? [];
  return kind ? { kind, name: decodeURIComponent(name) } : null;
}

/**
 * Makes the links of a lesson's text work: a click selects the pod or node, or scrolls to the pane; pointing at a node highlights it, and
 * pointing elsewhere what the stop highlights.
 */
export function followTextLinks(text: HTMLElement, store: SessionStore, highlighted: () => readonly string[]): () => void {
  function onclick(event: MouseEvent): void {
    const target = targetOf(event);
    if (!target) return;
    event.preventDefault();
    const { kind, name } = target;
    if (kind === "node" || kind === "pod") store.selection.select({ kind, name });
    else document.querySelector(`section[aria-labelledby="${CSS.escape(name)}-title"]`)?.scrollIntoView();
  }
  function onpoint(event: Event): void {
    const target = targetOf(event);
    store.selection.highlighted = target?.kind === "node" ? new Set([target.name]) : nodesIn(highlighted());
  }

  text.addEventListener("click", onclick);
  text.addEventListener("pointerover", onpoint);
  text.addEventListener("focusin", onpoint);
  return () => {
    text.removeEventListener("click", onclick);
    text.removeEventListener("pointerover", onpoint);
    text.removeEventListener("focusin", onpoint);
  };
}
