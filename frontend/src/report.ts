/** The script of a report (schedviz/experiments/report): draws the results that are in the file, with the components of the page. */
import "./theme/tokens.css";
import "./theme/page.css";
import "./theme/report.css";

import { mount } from "svelte";
import "./i18n/experiments";
import chinese from "./i18n/messages/zh-CN.experiments.json";
import { ENGLISH, languageAmong, setVocabularySource, type Vocabulary } from "./i18n/translate";
import type { Results } from "./model/experiments/results";
import Report from "./views/experiments/Report.svelte";

const target = document.getElementById("app");
const data = document.getElementById("results")?.textContent;

if (target && data) {
  const language = languageAmong(navigator.languages);
  const vocabulary: Vocabulary = language === "en" ? ENGLISH : { language, messages: chinese };
  setVocabularySource(() => vocabulary);
  document.documentElement.lang = language;
  target.replaceChildren();
  mount(Report, { target, props: { results: JSON.parse(data) as Results } });
}
