// The reference works without this script. It adds the search, the language of the examples, the reader's own key, and copying.
"use strict";
(() => {
const element = (id) => document.getElementById(id);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

/** What is kept between visits; nothing where the browser refuses to keep anything. */
function read(storage, name) {
  try {
    return window[storage].getItem(name) ?? "";
  } catch {
    return "";
  }
}

function keep(storage, name, value) {
  try {
    window[storage].setItem(name, value);
  } catch {
    // It counts for this visit alone.
  }
}

// The search.

const query = element("query");
const entries = all(".entry");
const sections = all("main > section");
const texts = new Map();

function ownText(entry) {
  const names = all("li > code:first-child, th > code", entry).map((name) => name.textContent);
  return [entry.firstElementChild.textContent, entry.lastElementChild.id, ...names].join(" ").toLowerCase();
}

/** What an entry says that can be searched. The fields of an event are those of the objects that it links to. */
function textOf(entry) {
  if (!texts.has(entry)) {
    const found = new Set([entry]);
    for (const one of entry.closest("#events") ? found : []) {
      for (const link of all('a[href^="#object-"]', one)) found.add(element(link.hash.slice(1)).closest(".entry"));
    }
    texts.set(entry, [...found].map(ownText).join(" "));
  }
  return texts.get(entry);
}

function search() {
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const entry of entries) entry.hidden = !words.every((word) => textOf(entry).includes(word));
  for (const section of sections) {
    section.hidden = words.length > 0 && !section.querySelector(".entry:not([hidden])");
    const link = document.querySelector(`nav a[href="#${section.id}"]`);
    if (link) link.parentElement.hidden = section.hidden;
  }
  const hits = (selector, one, several) => {
    const count = all(`${selector} .entry:not([hidden])`).length;
    return `${count} ${count === 1 ? one : several}`;
  };
  element("hits").textContent = words.length === 0 ? "" : [
    hits("section:not(#events, #objects)", "operation", "operations"),
    hits("#events", "event", "events"),
    hits("#objects", "object", "objects"),
  ].join(", ");
}

query.addEventListener("input", search);
query.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  document.querySelector("section:not([hidden]) > .entry:not([hidden]) > summary")?.focus();
});
addEventListener("keydown", (event) => {
  const isTyping = event.target.matches("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey;
  if (event.key !== "/" || isTyping) return;
  event.preventDefault();
  query.focus();
  query.select();
});
element("search").hidden = false;

// What an address leads to is unfolded, also where the browser does not do so by itself, and shown though it is no hit.

function visit() {
  const target = element(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.closest("[hidden]")) {
    query.value = "";
    search();
  }
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  target.scrollIntoView();
}

addEventListener("hashchange", visit);

// The menu is folded where it would cover the page.

const isWide = matchMedia("(min-width: 60rem)");
const fit = () => (document.querySelector(".menu").open = isWide.matches);
isWide.addEventListener("change", fit);
fit();

// The language of the examples.

const LANGUAGE = "regente.docs.language";
const groups = all("main .examples");

function choose(language) {
  for (const group of groups) {
    const chosen = [...group.children].find((example) => example.dataset.language === language);
    for (const example of group.children) example.open = example === (chosen ?? group.firstElementChild);
  }
}

addEventListener("click", (event) => {
  const summary = event.target.closest(".examples > details > summary");
  if (!summary) return;
  event.preventDefault();
  const { language } = summary.parentElement.dataset;
  keep("localStorage", LANGUAGE, language);
  choose(language);
});
if (read("localStorage", LANGUAGE)) choose(read("localStorage", LANGUAGE));

// The reader's own key.

const inputs = { CLIENT_ID: element("client-id"), API_KEY: element("api-key"), MERCHANT_ID: element("merchant-id") };
const places = all("var").map((place) => ({ place, text: place.textContent }));

/** The value as it stands in a text of the shell, or in one of JavaScript or Python. */
function written(value, text) {
  if (text.startsWith("$")) return value.replace(/[\\"$`]/g, "\\$&");
  // The path follows within the same quotation marks.
  return text.endsWith('"') ? JSON.stringify(value).slice(0, -1) : JSON.stringify(value);
}

function fill() {
  const values = { URL: location.origin };
  for (const [name, input] of Object.entries(inputs)) values[name] = input.value.trim();
  for (const { place, text } of places) {
    const [, name] = /REGENTE_(URL|CLIENT_ID|API_KEY)/.exec(text) ?? [];
    // The merchant of a body stands in quotation marks of any language.
    if (!name) place.textContent = values.MERCHANT_ID.replace(/[^\w-]/g, "") || text;
    else place.textContent = values[name] ? written(values[name], text) : text;
  }
}

for (const [name, input] of Object.entries(inputs)) {
  input.value = read("sessionStorage", `regente.docs.${name}`);
  input.addEventListener("input", () => {
    keep("sessionStorage", `regente.docs.${name}`, input.value.trim());
    fill();
  });
}
element("own").hidden = false;
fill();

// Copying.

/** Puts a button to each example that is unfolded for the first time. */
function dress(fold) {
  for (const code of all("pre", fold)) {
    if (code.parentElement.className === "code") continue;
    const frame = document.createElement("div");
    const button = document.createElement("button");
    frame.className = "code";
    button.type = "button";
    button.textContent = "Copy";
    code.replaceWith(frame);
    frame.append(button, code);
  }
}

async function copy(button) {
  const code = button.nextElementSibling;
  try {
    await navigator.clipboard.writeText(code.textContent);
  } catch {
    // Over plain HTTP there is no clipboard: the reader copies what is selected.
    getSelection().selectAllChildren(code);
    element("said").textContent = "Selected";
    return;
  }
  element("said").textContent = "Copied";
  button.textContent = "Copied";
  setTimeout(() => {
    button.textContent = "Copy";
    element("said").textContent = "";
  }, 2000);
}

addEventListener("toggle", ({ target }) => target.open && target.closest(".entry") && dress(target), true);
addEventListener("click", (event) => event.target.matches(".code > button") && copy(event.target));

if (location.hash) visit();
})();
