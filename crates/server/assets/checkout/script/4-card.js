// The card: fields, saved cards, and the data that a bank wants before it asks the cardholder.
const CARD_FIELDS = {
  "card-number": "cardNumber", "card-holder-name": "cardHolderName", "card-expiration-date": "cardExpirationDate",
  "card-cvv": "cardCvv",
};
const hasCard = Boolean($("new-card"));

// The hosted fields of the browser library: what is typed stays in their frames, and this page learns whether it is right.
const cardFields = {
  library: null,
  // What a field has last told; one that was never left has told nothing.
  states: new Map(),
  mount() {
    const fields = Object.fromEntries(Object.entries(CARD_FIELDS).map(([container, name]) => [name, { container }]));
    fields.cardExpirationDate.placeholder = texts.expiryShape;
    this.library = new RegenteTokenization({
      apiKey: session.publicKey, clientId: session.clientId,
      options: {
        config: { fields, styles: this.styles() }, hostedFieldsUrl: session.fieldsUrl, tokensPath: "/v1/sessions/tokens",
        vendor: "checkout", language: document.documentElement.lang,
      },
    });
    this.library.on("ready", ({ field }) => $(field).classList.remove("skeleton"));
    this.library.on("cardTypeChanged", ({ card }) => showBrand(card?.niceType));
    this.library.on("validity", ({ field, valid, error }) => {
      this.states.set(field, valid ? null : error?.code ?? "invalid");
      mark(field, valid ? null : this.problem(field));
    });
    // What is marked stays so until the field is right: it may have been entered because it is.
    this.library.on("focus", ({ field }) => $(field).classList.add("focused"));
    this.library.on("blur", ({ field }) => $(field).classList.remove("focused"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.library.restyle(this.styles()));
  },
  styles() {
    const colours = getComputedStyle(document.documentElement);
    const colour = (name) => colours.getPropertyValue(name).trim();
    return {
      input: { color: colour("--text"), "background-color": colour("--field"), "font-size": "16px", "font-family": "system-ui, sans-serif" },
      // The place around the frame shows where the focus is.
      ":focus": { outline: "none" },
      "::placeholder": { color: colour("--muted") },
    };
  },
  problem(name) {
    const code = this.states.has(name) ? this.states.get(name) : "required";
    if (!code) return null;
    if (code === "required") return texts.required;
    return code === "expired" ? texts.cardExpired : texts[CARD_FIELDS[name]];
  },
  problems(names) {
    return names.filter((name) => {
      mark(name, this.problem(name));
      return this.problem(name);
    });
  },
  focus(name) {
    this.library?.focus(name);
  },
};

// The brand by its name, in the place of the sign of a card: logos of brands are theirs.
function showBrand(name) {
  const place = $("brand");
  place.classList.toggle("known", Boolean(name));
  place.querySelector("span").textContent = name ?? "";
}

const savedCard = () => form.querySelector("[name=savedCard]:checked")?.value || null;

function showSaved() {
  if (!hasCard || session.takesCard) return;
  $("save-card-line").hidden = !known.record;
  if (!known.cards.length) return;
  const choices = known.cards.map((card) => [
    card.id, `${card.brand} ${texts.cardEnding} ${card.last4digits} · ${card.expirationMonth}/${card.expirationYear}`,
  ]);
  const places = [...choices, ["", $("saved").dataset.another]].map(([id, text], place) => {
    const label = document.createElement("label");
    const input = Object.assign(document.createElement("input"), { type: "radio", name: "savedCard", value: id, checked: !place });
    label.className = "choice";
    label.append(input, text);
    return label;
  });
  $("saved-cards").replaceChildren(...places);
  $("saved").hidden = false;
  $("saved").addEventListener("change", chooseCard);
  chooseCard();
}

// Of a saved card the buyer is only asked for its code.
function chooseCard() {
  const isSaved = Boolean(savedCard());
  for (const name of Object.keys(CARD_FIELDS)) {
    if (name !== "card-cvv") form.querySelector(`[data-field="${name}"]`).hidden = isSaved;
    mark(name);
  }
  $("save-card-line").hidden = isSaved;
}

function cardProblems() {
  return cardFields.problems(savedCard() ? ["card-cvv"] : Object.keys(CARD_FIELDS));
}

// A refusal of the token belongs to a field, where it can be told to which.
class Refused extends Error {}

function refusedToken(error) {
  if (!error) return new Refused(texts.offline);
  if (error.code === 429) return new Refused(texts.tooMany);
  const said = [...(error.details ?? []), error.message ?? ""].join(" ");
  const expired = error.declinedCode === "expired_card";
  const number = error.declinedCode === "invalid_number";
  for (const [name, member] of Object.entries(CARD_FIELDS)) {
    const isThis = said.includes(member) || (expired && member === "cardExpirationDate") || (number && member === "cardNumber");
    if (isThis) {
      mark(name, expired ? texts.cardExpired : texts[member]);
      return new Refused(texts.fix);
    }
  }
  return new Refused(texts.refused);
}

async function cardSource() {
  const saved = savedCard();
  const { tokenId, error } = saved ? await cardFields.library.tokenizeCvv() : await cardFields.library.tokenize();
  // The key takes no card any more: the session was paid in another window, or is over.
  if (error?.code === 403) await findOut();
  if (!tokenId) throw refusedToken(error);
  return saved ? { sourceType: "card", cardId: saved, tokenCvv: tokenId } : { sourceType: "token", tokenId };
}

// What the bank of the card is told of this browser.
function authentication() {
  if (!session.asksCardholder) return undefined;
  return {
    requiresLiabilityShift: session.liabilityMustShift,
    redirectURL: session.returnPage ?? `${location.origin}/pay/${session.id}/returned`,
    requestorURL: session.companyUrl ?? location.origin,
    browser: {
      acceptHeader: session.buyer.accept, ip: session.buyer.ip, userAgent: navigator.userAgent, language: navigator.language,
      colorDepth: screen.colorDepth, screenHeight: screen.height, screenWidth: screen.width,
      timeZoneOffset: String(new Date().getTimezoneOffset()), javaEnabled: false, javaScriptEnabled: true,
    },
  };
}
