/** Mounts the page that the shell asks for (`data-page` of `#app`). */
import "./theme/tokens.css";
import "./theme/page.css";

import { mount } from "svelte";

const root = document.getElementById("app");

async function show(target: HTMLElement): Promise<void> {
  const { page = "", session = "", name = "", user = "" } = target.dataset;
  if (page === "scope") {
    const { default: ScopePage } = await import("./views/ScopePage.svelte");
    mount(ScopePage, { target, props: { session, name } });
  } else if (page === "sessions") {
    const { default: SessionsPage } = await import("./views/sessions/SessionsPage.svelte");
    mount(SessionsPage, { target, props: { user } });
  }
}

if (root) void show(root);
