/** Mounts the page that the shell asks for (`data-page` of `#app`). */
import "./theme/fonts.css";
import "./theme/tokens.css";
import "./theme/page.css";
import "./theme/projected.css";

import { mount, type Component } from "svelte";
import { useShareLink } from "./api/shareLink";
import { t } from "./i18n/translate";
import { preferences } from "./store/page/preferences.svelte";

type Mount = (target: HTMLElement) => void;

async function load<Props extends Record<string, unknown>>(page: Promise<{ default: Component<Props> }>, props: Props): Promise<Mount> {
  const { default: Page } = await page;
  return (target) => {
    mount(Page, { target, props });
  };
}

/** The pages by the shell's `data-page`; its other `data-*` attributes are their props. */
const PAGES: Record<string, (data: DOMStringMap) => Promise<Mount>> = {
  cases: () => load(import("./views/cases/CasesPage.svelte"), {}),
  compare: () => load(import("./views/compare/ComparePage.svelte"), {}),
  experiments: ({ experiment: id = "" }) => load(import("./views/experiments/Experiments.svelte"), { id }),
  home: () => load(import("./views/home/HomePage.svelte"), {}),
  join: ({ code = "" }) => load(import("./views/rooms/JoinPage.svelte"), { code }),
  lessons: () => load(import("./views/lessons/LessonsPage.svelte"), {}),
  room: ({ room: id = "", view = "" }) => load(import("./views/rooms/RoomPage.svelte"), { id, view }),
  rooms: () => load(import("./views/rooms/RoomsPage.svelte"), {}),
  session: ({ session = "", name = "", panel = "", lesson = "", embedded }) =>
    panel
      ? load(import("./views/panel/PanelPage.svelte"), { session, name, panel, embedded: embedded !== undefined })
      : load(import("./views/sessionPage/SessionPage.svelte"), { session, name, lesson }),
  sessions: () => load(import("./views/sessions/SessionsPage.svelte"), {}),
};

async function show(target: HTMLElement): Promise<void> {
  const { page = "", embedded } = target.dataset;
  if (embedded !== undefined) useShareLink(new URLSearchParams(location.search).get("link") ?? "");
  const messages = preferences.setLanguage(preferences.language).catch(() => undefined); // English is bundled.
  try {
    const open = PAGES[page];
    if (!open) throw new Error(`no page is called "${page}"`);
    const [mountPage] = await Promise.all([open(target.dataset), messages]);
    mountPage(target);
  } catch (error) {
    // A server that was updated since no longer has the scripts that this page loads on demand.
    target.textContent = t("error.page");
    throw error;
  }
}

/** After the page, so that its first load stays small. */
async function explainTerms(): Promise<void> {
  const [{ default: GlossaryTip }, { default: terms }, { Glossary }] = await Promise.all([
    import("./ui/GlossaryTip.svelte"),
    import("./i18n/messages/glossary.json"),
    import("./model/text/glossary"),
  ]);
  mount(GlossaryTip, { target: document.body, props: { glossary: new Glossary(terms) } });
}

/** On pages that the server renders, in place of the header that works without scripts. */
async function showTop(target: Element): Promise<void> {
  const [{ default: SiteTop }] = await Promise.all([import("./views/site/SiteTop.svelte"), preferences.setLanguage(preferences.language).catch(() => undefined)]);
  target.replaceChildren();
  mount(SiteTop, { target });
}

const root = document.getElementById("app");
const siteTop = document.querySelector("[data-site-top]");
if (siteTop) void showTop(siteTop);
if (root) void show(root).then(explainTerms);
