// Styles that a page may give a field: properties that change how text looks, and nothing that loads, asks for what is typed, or
// shows anything else. They are set as properties of rules that stand here, so no text of a page becomes a selector.

const PSEUDO = {
  "": "input", ":hover": "input:hover", ":focus": "input:focus", "::placeholder": "input::placeholder",
  ":valid": "input.valid", ":invalid": "input[aria-invalid=true]", ":autofill": "input:autofill",
};
const SAFE = new RegExp(`^(${[
  "color", "caret-color", "background-color", "opacity", "font", "font-(family|size|stretch|style|variant|weight)",
  "font-variant-numeric", "letter-spacing", "line-height", "word-spacing", "text-(align|indent|shadow|transform|decoration)",
  "padding(-(top|right|bottom|left))?", "border(-(top|right|bottom|left))?(-(color|style|width))?",
  "border(-(top|bottom)-(left|right))?-radius", "box-shadow", "box-sizing", "outline(-(color|offset|style|width))?",
  "height", "direction", "transition", "-webkit-text-fill-color", "-webkit-font-smoothing", "-moz-osx-font-smoothing",
].join("|")})$`);
const SUSPICIOUS = /[\\;{}@<>]|\/\*|(url|image|image-set|element|attr|var|env|expression|src|cross-fade|paint)\s*\(/i;
const STYLE_CHARACTERS_MAX = 200;

const rules = new Map();

/** `styles` is `{ input: { color, ":focus": { … } }, ":focus": { … }, "input::placeholder": { … } }`. */
function applyStyles(styles) {
  const isObject = (value) => value !== null && typeof value === "object";
  const set = (pseudo, properties) => {
    if (!Object.hasOwn(PSEUDO, pseudo) || !isObject(properties)) return;
    for (const [name, value] of Object.entries(properties)) {
      if (isObject(value)) {
        if (pseudo === "") set(name, value);
      } else {
        const property = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
        const text = String(value);
        const isSafe = SAFE.test(property) && text.length <= STYLE_CHARACTERS_MAX && !SUSPICIOUS.test(text);
        if (isSafe) ruleOf(pseudo).setProperty(property, text);
      }
    }
  };
  for (const { style } of rules.values()) style.cssText = "";
  if (!isObject(styles)) return;
  for (const [key, properties] of Object.entries(styles)) set(key.replace(/^input/, ""), properties);
}

/** The rule of a pseudo key, in the order of the table, so that a later one wins. */
function ruleOf(pseudo) {
  if (!rules.size) {
    const sheet = document.styleSheets[0];
    for (const [key, selector] of Object.entries(PSEUDO)) {
      try {
        rules.set(key, sheet.cssRules[sheet.insertRule(`${selector}{}`, sheet.cssRules.length)]);
      } catch { /* this browser has no such selector */ }
    }
  }
  return (rules.get(pseudo) ?? document.createElement("i")).style;
}
