// The document in the frames of the browser library: one field of a card. The page around it says which one (`setTypeField`)
// and is told whether the value is right, never the value. The frame of the number sends the card to the API; it asks the other
// frames for their values in a channel that only this origin can open. A page with the published library, which names no
// channel, keeps the values itself: it is told them and sends them back, where the operator serves such pages
// (`fields.legacy_pages`). docs/browser-library.md has the messages.
/**
 * `api` is the address of the API; empty when it is where this document came from. `legacyPages` is there when pages are served
 * that name no channel.
 */
const { api, legacyPages } = document.documentElement.dataset;
const SIBLINGS_MS_MAX = 2_000;
const CALL_MS_MAX = 25_000;
const SESSION_PATH = "/v1/sessions/tokens";
const PATHS = ["/v1/tokens", SESSION_PATH];
const UNEXPECTED = { type: "api_error", code: 500, message: "unexpected error" };
const FORBIDDEN = { type: "invalid_request_error", code: 403, message: "forbidden" };

const LABELS = {
  en: ["Card number", "Name on card", "Expiry date", "Security code"],
  es: ["Número de tarjeta", "Nombre en la tarjeta", "Vencimiento", "Código de seguridad"],
  pt: ["Número do cartão", "Nome no cartão", "Vencimento", "Código de segurança"],
};
const WORDS = {
  en: { required: "required", invalid: "invalid", incomplete: "incomplete", expired: "expired" },
  es: { required: "obligatorio", invalid: "inválido", incomplete: "incompleto", expired: "vencido" },
  pt: { required: "obrigatório", invalid: "inválido", incomplete: "incompleto", expired: "vencido" },
};

/** Who configured this frame: nobody else is listened to. */
let host;
/** The account (client id) of the first message that names one. What is typed here goes to no other. */
let account;
let kind;
let field;
let options;
let channel;
let language = "en";
let shownBrand;
/** Whether the buyer has left the field, so that an unfinished value is wrong. */
let isLeft = false;
const asked = new Map();
const input = document.createElement("input");
const notice = document.createElement("p");

function tell(message) {
  host.source.postMessage(message, host.origin);
}

const value = () => kind.value(input.value);
const labelOf = (name) => LABELS[language][Object.keys(KINDS).indexOf(name)];
const sentence = (name, code) => `${labelOf(name)}: ${WORDS[language][code]}`;

function check() {
  const isEmpty = input.value.trim() === "";
  return { isEmpty, ...(isEmpty ? wrong("required") : kind.check(value(), input.value)) };
}

function report(submitted) {
  const { isEmpty, valid, code, isOpen } = check();
  const potentialValid = !valid && !isLeft && (isEmpty || Boolean(isOpen));
  const isWrong = !valid && !potentialValid && (!isEmpty || Boolean(submitted));
  const message = valid ? "" : sentence(field, code);
  if (options.defaultValidation === false) return;
  input.setAttribute("aria-invalid", String(isWrong));
  input.classList.toggle("valid", valid);
  notice.textContent = isWrong ? message : "";
  const error = valid ? undefined : { field, message, code };
  tell({ eventType: "validity", data: { field, valid, empty: isEmpty, potentialValid, error, ...(submitted && { submitted }) } });
}

function reportBrand() {
  const card = kind.member === "cardNumber" ? brandOf(value()) : undefined;
  if (card === shownBrand) return;
  shownBrand = card;
  tell({ eventType: "cardTypeChanged", data: { field, card } });
  channel?.postMessage({ codeDigits: card?.code.size });
}

function change(event) {
  if (options.needMask !== false) mask(String(event?.inputType ?? "insert"));
  // Before its validity: a page that shows that has the value.
  if (!channel) tell({ eventType: "updateCardValues", data: { field, value: value() } });
  reportBrand();
  report();
}

/** Masks what was typed, with the caret after the same character as before. */
function mask(inputType) {
  const typed = input.value;
  const shown = kind.masked(typed, !inputType.startsWith("delete"));
  if (shown === typed) return;
  const caret = input.selectionStart ?? typed.length;
  const isAtEnd = caret === typed.length;
  const before = digitsOf(typed.slice(0, caret)).length;
  input.value = shown;
  let place = 0;
  for (let digits = 0; place < shown.length && digits < before; place++) if (/\d/.test(shown[place])) digits += 1;
  // Whoever deletes forwards comes past a mark, which stays.
  if (inputType === "deleteContentForward") while (/[ /]/.test(shown[place])) place += 1;
  if (document.activeElement === input) input.setSelectionRange(...(isAtEnd ? [shown.length, shown.length] : [place, place]));
}

/** Whether the card may go to this account; the first one is taken. */
function isFor(clientId) {
  account ??= clientId;
  return account === clientId;
}

/** Whether a page names a channel, so that it has no need to be told the values. */
const isChannel = (name) => /^[\w-]{16,64}$/.test(name);

function configure(message) {
  const { fieldConfig = {}, preventAutofill, authorizationData } = message;
  account = authorizationData?.clientId;
  [field, kind, options] = [message.field, KINDS[message.field], fieldConfig ?? {}];
  const tag = String(message.language ?? navigator.language).slice(0, 2).toLowerCase();
  language = tag in LABELS ? tag : "en";
  const label = labelOf(field);
  document.documentElement.lang = language === "pt" ? "pt-BR" : language;
  document.title = label;
  const isNumeric = field !== "card-holder-name";
  Object.assign(input, {
    id: "field", name: kind.autocomplete, autocomplete: preventAutofill ? "off" : kind.autocomplete,
    type: ["text", "tel", "password"].includes(options.type) ? options.type : "text", spellcheck: false,
    inputMode: isNumeric ? "numeric" : "text", autocapitalize: isNumeric ? "off" : "characters", maxLength: 100,
  });
  input.setAttribute("aria-label", label);
  // Not `required`: some browsers would draw their own frame around an empty field.
  input.setAttribute("aria-required", "true");
  input.setAttribute("aria-describedby", "notice");
  notice.id = "notice";
  notice.setAttribute("role", "status");
  dress(message);
  input.addEventListener("input", change);
  input.addEventListener("focus", () => {
    if (input.value === "") isLeft = false;
    tell({ eventType: "focus", data: { field } });
  });
  input.addEventListener("blur", () => {
    isLeft = true;
    report();
    tell({ eventType: "blur", data: { field } });
  });
  input.addEventListener("keydown", ({ key }) => {
    if (key === "Enter" && channel) tell({ eventType: "enter", data: { field } });
  });
  document.body.append(input, notice);
  if (isChannel(message.channel)) join(message.channel);
}

/** Styles, placeholder and colour scheme, which a page may change later. */
function dress({ styles, fieldConfig, colorScheme }) {
  input.placeholder = String(fieldConfig?.placeholder ?? "").slice(0, 100);
  if (/^(normal|light|dark|light dark)$/.test(colorScheme)) document.documentElement.style.colorScheme = colorScheme;
  applyStyles(styles);
}

function join(name) {
  channel = new BroadcastChannel(`regente-fields-${name}`);
  channel.addEventListener("message", ({ data }) => {
    if (data.ask) {
      // A number leaves the frame that it was typed into for the API alone.
      if (field === "card-number") return;
      leave();
      channel.postMessage({ answer: data.ask, member: kind.member, value: value() });
    } else if (data.answer) {
      asked.get(data.answer)?.(data);
    } else if (data.account) {
      isFor(data.account);
    } else if (data.isCodeAskedFor) {
      if (shownBrand) channel.postMessage({ codeDigits: shownBrand.code.size });
    } else if (field === "card-cvv" && "codeDigits" in data) {
      facts.codeDigits = data.codeDigits;
      if (input.value) change();
    }
  });
  if (field === "card-cvv") channel.postMessage({ isCodeAskedFor: true });
  tell({ eventType: "ready", data: { field } });
}

/** The card is to be tokenized: what is unfinished or empty is wrong now. */
function leave() {
  isLeft = true;
  report(true);
}

/** A name that nobody guesses. */
function newName() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The values of the other fields, as far as their frames answer. */
function gather(fields) {
  const others = fields.filter((name) => name !== field && name in KINDS).length;
  const card = { [kind.member]: value() };
  const ask = newName();
  return new Promise((resolve) => {
    const settle = () => {
      clearTimeout(timer);
      asked.delete(ask);
      resolve(card);
    };
    const timer = setTimeout(settle, SIBLINGS_MS_MAX);
    asked.set(ask, ({ member, value: told }) => {
      card[member] = told;
      if (Object.keys(card).length > others) settle();
    });
    channel.postMessage({ ask });
    if (!others) settle();
  });
}

async function submit({ data, requestId }) {
  const outcome = await tokenize(data).catch(() => ({ error: UNEXPECTED }));
  tell({ eventType: "tokenize", ...(requestId && { requestId }), data: outcome });
}

async function tokenize({ authorizationData, tokensPath, card, fields, cvvOnly }) {
  const { clientId, apiKey } = authorizationData ?? {};
  // A page that is not served here has an answer, too. A secret key has nothing to do in a page.
  if (!field || String(apiKey).startsWith("sk_") || !isFor(clientId)) return { error: FORBIDDEN };
  if (channel) leave();
  const typed = cvvOnly ? { cardCvv: value() } : channel ? await gather(fields ?? Object.keys(KINDS)) : theCard(card);
  const error = emptiness(cvvOnly ? ["card-cvv"] : Object.keys(KINDS), typed);
  if (error) return { error };
  // The other fields of this card are for the same account.
  channel?.postMessage({ account });
  const body = cvvOnly ? { cvvUpdate: typed.cardCvv } : typed;
  const call = new AbortController();
  const timer = setTimeout(() => call.abort(), CALL_MS_MAX);
  const path = PATHS.includes(tokensPath) ? tokensPath : PATHS[0];
  const post = (headers) => fetch(api + path, {
    method: "POST", credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer", signal: call.signal,
    headers: { "Content-Type": "application/json", "X-Api-Key": apiKey, "X-Client-Id": clientId, ...headers },
    body: JSON.stringify(body),
  });
  // A session may ask for a proof that a person types the card. It is for the token that this key makes.
  const headers = path === SESSION_PATH ? { "X-Idempotency-Key": newName() } : {};
  let answer = await post(headers);
  const challenge = answer.headers.get("X-Captcha-Challenge");
  if (challenge) answer = await post({ ...headers, "X-Captcha-Token": await solve(challenge, call.signal) });
  if (answer.status === 403) return { error: FORBIDDEN };
  const told = await answer.json();
  clearTimeout(timer);
  if (answer.ok && told.tokenId) return { tokenId: told.tokenId };
  return { error: (answer.status < 500 && told.error) || UNEXPECTED };
}

/** The refusal of a card with empty fields, in the language of the fields; it is not sent. */
function emptiness(names, typed) {
  const empty = names.filter((name) => !typed[KINDS[name].member]?.trim());
  const details = empty.map((name) => `${KINDS[name].member} should not be empty`);
  const message = empty.map((name) => sentence(name, "required")).join("; ");
  return empty.length ? { type: "bad_request", code: 400, message, details } : undefined;
}

/** What the published library has kept, and nothing else that a page may put there. */
function theCard(card) {
  const members = Object.values(KINDS).map(({ member }) => [member, card?.[member]]);
  return Object.fromEntries(members.filter(([, text]) => typeof text === "string"));
}

window.addEventListener("message", (event) => {
  const message = event.data;
  if (!message || typeof message !== "object" || event.source === null) return;
  if (!host) {
    // Only the page around this frame, and only one that can be answered by its origin.
    const isPage = event.source === window.parent && window.parent !== window && event.origin !== "null";
    if (!isPage || message.type !== "setTypeField" || !Object.hasOwn(KINDS, message.field)) return;
    host = { source: event.source, origin: event.origin };
    if (isChannel(message.channel) || legacyPages !== undefined) configure(message);
    else console.error("card fields: a page with this library is not served here (fields.legacy_pages)");
    return;
  }
  if (event.source !== host.source || event.origin !== host.origin) return;
  // The field and its channel stay: a value that was typed under one agreement is not told under another.
  if (message.type === "setTypeField") field && dress(message);
  else if (message.eventType === "focus") input.focus();
  else if (message.eventType === "submit" && message.data) {
    const isMine = channel && message.data.cvvOnly ? field === "card-cvv" : field === "card-number";
    if (isMine || !field) submit(message);
  }
});
