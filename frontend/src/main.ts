/** Mounts the page that the shell asks for (`data-page` of `#app`). */
import "./theme/fonts.css";
import "./theme/tokens.css";
import "./theme/page.css";
import "./theme/projected.css";

import { mount } from "svelte";
import { useShareLink } from "./api/shareLink";
import { preferences } from "./store/preferences.svelte";

const root = document.getElementById("app");

async function show(target: HTMLElement): Promise<void> {
  const { page = "", session = "", name = "", panel = "", lesson = "" } = target.dataset;
  const embedded = "embedded" in target.dataset;
  if (embedded) useShareLink(new URLSearchParams(location.search).get("link") ?? "");
  const messages = preferences.speak(preferences.language).catch(() => undefined); // English is bundled.
  if (page === "compare") {
    const [{ default: ComparePage }] = await Promise.all([import("./views/compare/ComparePage.svelte"), messages]);
    mount(ComparePage, { target });
  } else if (page === "scope" && panel) {
    const [{ default: PanelPage }] = await Promise.all([import("./views/panel/PanelPage.svelte"), messages]);
    mount(PanelPage, { target, props: { session, name, panel, embedded } });
  } else if (page === "scope") {
    const [{ default: ScopePage }] = await Promise.all([import("./views/ScopePage.svelte"), messages]);
    mount(ScopePage, { target, props: { session, name, lesson } });
  } else if (page === "home") {
    const [{ default: HomePage }] = await Promise.all([import("./views/home/HomePage.svelte"), messages]);
    mount(HomePage, { target });
  } else if (page === "sessions") {
    const [{ default: SessionsPage }] = await Promise.all([import("./views/sessions/SessionsPage.svelte"), messages]);
    mount(SessionsPage, { target });
  } else if (page === "experiments") {
    const [{ default: Experiments }] = await Promise.all([import("./views/experiments/Experiments.svelte"), messages]);
    mount(Experiments, { target, props: { id: target.dataset.experiment ?? "" } });
  } else if (page === "cases") {
    const [{ default: CasesPage }] = await Promise.all([import("./views/cases/CasesPage.svelte"), messages]);
    mount(CasesPage, { target });
  } else if (page === "join") {
    const [{ default: JoinPage }] = await Promise.all([import("./views/rooms/JoinPage.svelte"), messages]);
    mount(JoinPage, { target, props: { code: target.dataset.code ?? "" } });
  } else if (page === "rooms") {
    const [{ default: RoomsPage }] = await Promise.all([import("./views/rooms/RoomsPage.svelte"), messages]);
    mount(RoomsPage, { target });
  } else if (page === "room") {
    const { room = "", view = "" } = target.dataset;
    const [{ default: RoomPage }] = await Promise.all([import("./views/rooms/RoomPage.svelte"), messages]);
    mount(RoomPage, { target, props: { id: room, view } });
  } else if (page === "lessons") {
    const [{ default: LessonsPage }] = await Promise.all([import("./views/lessons/LessonsPage.svelte"), messages]);
    mount(LessonsPage, { target });
  }
}

/** After the page, so that its first load stays small. */
async function explainTerms(): Promise<void> {
  const [{ default: GlossaryTip }, { default: terms }, { Glossary }] = await Promise.all([
    import("./ui/GlossaryTip.svelte"),
    import("./i18n/messages/glossary.json"),
    import("./model/glossary"),
  ]);
  mount(GlossaryTip, { target: document.body, props: { glossary: new Glossary(terms) } });
}

/** On pages that the server renders, in place of the header that works without scripts. */
async function showTop(target: Element): Promise<void> {
  const [{ default: SiteTop }] = await Promise.all([import("./views/SiteTop.svelte"), preferences.speak(preferences.language).catch(() => undefined)]);
  target.replaceChildren();
  mount(SiteTop, { target });
}

const siteTop = document.querySelector("[data-site-top]");
if (siteTop) void showTop(siteTop);
if (root) void show(root).then(explainTerms);
