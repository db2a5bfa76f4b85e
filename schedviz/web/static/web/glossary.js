/** The search field of the glossary: hides the terms that do not have all its words in their name or meaning. */
"use strict";

const search = document.querySelector("[data-glossary-search]");
const rows = [...document.querySelectorAll("[data-term-row]")];
const none = document.querySelector("[data-glossary-none]");

function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
  for (const section of document.querySelectorAll("main section")) section.hidden = !section.querySelector("[data-term-row]:not([hidden])");
  none.hidden = rows.some((row) => !row.hidden);
}
search.addEventListener("input", filter);
