/** The user's preferences in this browser: theme, language and options of panels. Stored in localStorage and, for the first paint, cookies. */
import { MediaQuery } from "svelte/reactivity";

import { ENGLISH, languageAmong, LANGUAGES, setVocabularySource, vocabularyOf, type Language } from "../../i18n/translate";
import { readStored, writeStored } from "./browserStorage";

export type Theme = "system" | "dark" | "light";

const KEY = "schedviz";

interface StoredPreferences {
  theme: Theme;
  language: Language;
  queueAs: "heap" | "order";
  cacheAs: "list" | "table";
  /** Of sessions in which it was not chosen. */
  internals: boolean;
  /** By the path of a page: whether its user wants all details. The oldest is first. */
  internalsAt: Record<string, boolean>;
}

/** The most pages whose choice of details is stored. */
const MAX_PAGES = 50;

class Preferences {
  theme = $state<Theme>("system");
  language = $state<Language>("en");
  queueAs = $state<StoredPreferences["queueAs"]>("heap");
  cacheAs = $state<StoredPreferences["cacheAs"]>("list");
  /** Whether this session shows what only the scheduler knows: counters, generations, watch events. */
  internals = $state(false);
  private readonly internalsElsewhere: boolean;
  private internalsAt: Record<string, boolean>;

  /** The resolved theme. Canvases read their colors again when it changes. */
  readonly dark = $derived(this.theme === "dark" || (this.theme === "system" && systemIsDark.current));

  /** The messages in use: those of `language`, once loaded. */
  vocabulary = $state.raw(ENGLISH);

  /** An embedded page stores nothing in the visitor's browser; its address sets the theme. */
  private readonly keeps = document.querySelector("[data-embedded]") === null;

  constructor() {
    const stored = this.keeps ? ((readStored(KEY) ?? {}) as Partial<StoredPreferences>) : fromAddress();
    this.language = stored.language && stored.language in LANGUAGES ? stored.language : languageAmong(navigator.languages);
    if (stored.theme) this.theme = stored.theme;
    if (stored.queueAs) this.queueAs = stored.queueAs;
    if (stored.cacheAs) this.cacheAs = stored.cacheAs;
    this.internalsElsewhere = stored.internals ?? false;
    this.internalsAt = stored.internalsAt ?? {};
    this.internals = this.internalsAt[location.pathname] ?? this.internalsElsewhere;
    this.apply();
  }

  toggleTheme(): void {
    this.theme = this.dark ? "light" : "dark";
    this.apply();
  }

  toggleInternals = (): void => {
    this.internals = !this.internals;
    const others = Object.entries(this.internalsAt).filter(([path]) => path !== location.pathname);
    this.internalsAt = Object.fromEntries([...others.slice(1 - MAX_PAGES), [location.pathname, this.internals]]);
    this.save();
  };

  /** Change the language in place. Resolves when its messages are loaded; if loading fails, nothing changes. */
  async setLanguage(language: Language): Promise<void> {
    const vocabulary = await vocabularyOf(language);
    this.language = language;
    this.vocabulary = vocabulary;
    document.documentElement.lang = language;
    if (this.keeps) document.cookie = `schedviz_language=${language}; path=/; max-age=31536000; SameSite=Lax`;
    this.save();
  }

  save(): void {
    if (!this.keeps) return;
    const stored: StoredPreferences = { theme: this.theme, language: this.language, queueAs: this.queueAs, cacheAs: this.cacheAs, internals: this.internalsElsewhere, internalsAt: this.internalsAt };
    writeStored(KEY, stored);
  }

  private apply(): void {
    const root = document.documentElement;
    if (this.theme === "system") delete root.dataset["theme"];
    else {
      root.dataset["theme"] = this.theme;
      if (this.keeps) document.cookie = `schedviz_theme=${this.theme}; path=/; max-age=31536000; SameSite=Lax`;
    }
    this.save();
  }
}

function fromAddress(): Partial<StoredPreferences> {
  const theme = new URLSearchParams(location.search).get("theme");
  return theme === "dark" || theme === "light" ? { theme } : {};
}

const systemIsDark = new MediaQuery("(prefers-color-scheme: dark)");

export const preferences = new Preferences();
setVocabularySource(() => preferences.vocabulary);
