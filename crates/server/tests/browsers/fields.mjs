// A shop whose card fields are those of the browser library. Prints one line of JSON for each story; the test reads them.
import assert from "node:assert/strict";
import { published } from "./published.mjs";
import { spying } from "./spying.mjs";
import {
  CARD, CONTAINERS, PLACES, REGENTE_API_KEY, REGENTE_CLIENT_ID, REGENTE_MERCHANT_ID, REGENTE_URL, call, fieldIn, hasCard, launch,
  openShop, page as html, soon, tell, typeCard,
} from "./shop.mjs";

const { publicKey } = await call("POST", "/v1/auth", { scope: ["tokens"], expires: 3600 });
const session = await call("POST", "/v1/sessions", {
  merchantId: REGENTE_MERCHANT_ID, items: [{ name: "Shoe", unitPrice: 150, quantity: 1 }],
  paymentMethods: [{ paymentType: "credit", installments: 1 }],
});
const asking = await call("POST", "/v1/sessions", {
  merchantId: REGENTE_MERCHANT_ID, items: [{ name: "Shoe", unitPrice: 150, quantity: 1 }], captchaEnabled: true,
  paymentMethods: [{ paymentType: "credit", installments: 1 }],
});
const { scripts } = await (await fetch(`${REGENTE_URL}/js/manifest.json`)).json();
const scriptTag = (path) => {
  const { integrity } = scripts.find((script) => script.path === path);
  return `<script src="${REGENTE_URL}${path}" integrity="${integrity}" crossorigin></script>`;
};
const library = scriptTag("/js/v2.1.0/regente.js");
const fields = {
  cardNumber: { container: "card-number", placeholder: "9999 9999 9999 9999" },
  cardHolderName: { container: "card-holder-name", placeholder: "As on the card" },
  cardExpirationDate: { container: "card-expiration-date", placeholder: "MM/YY" },
  cardCvv: { container: "card-cvv", placeholder: "999" },
};
const styles = { input: { color: "rgb(200, 0, 0)", fontSize: "20px", ":focus": { color: "rgb(0, 0, 200)" } } };
const made = ({ apiKey = publicKey, only = fields, ...more } = {}) => `const library = new RegenteTokenization(${JSON.stringify({
  apiKey, clientId: REGENTE_CLIENT_ID, options: { config: { fields: only, styles }, ...more },
})});`;
/** Notes every event and every message that the page can hear. */
const listening = `window.heard = []; window.messages = [];
  addEventListener("message", (event) => messages.push(JSON.stringify(event.data)));
  for (const type of ["validity", "cardTypeChanged", "focus", "blur", "ready"]) {
    library.on(type, ({ parentNode, ...event }) => heard.push({ type, parent: parentNode?.id, ...event }));
  }`;
const checkout = (setup, language) => html("Shop", `<form onsubmit="event.preventDefault(); window.isSubmitted = true">${PLACES}
  <button>Pay</button></form>${library}<script>${setup} ${listening}</script>`, language);
const v1Form = ({ number = CARD.number, apiKey = publicKey, cvv = CARD.cvv } = {}) => html("Shop", `
  <form data-malga-tokenization-form action="/pay" method="post">
    <input data-malga-tokenization-holder-name value="${CARD.holder}"><input data-malga-tokenization-number value="${number}">
    <input data-malga-tokenization-expiration-date value="12/2030"><input data-malga-tokenization-cvv value="${cvv}">
    <input name="orderId" value="77"><button name="submit">Pay</button></form>${scriptTag("/js/v1.0.0/v1.js")}
  <script>document.querySelector("form").addEventListener("tokenizationError", ({ detail }) => { window.failed = detail; });
    new RegenteTokenization({ apiKey: "${apiKey}", clientId: "${REGENTE_CLIENT_ID}" }).init();</script>`);

const NOBODYS_KEY = "3f1c1b1e-2a7b-4a57-9d35-000000000000";
const canary = { ...CARD, number: process.env.CANARY_NUMBER ?? CARD.number, cvv: process.env.CANARY_CVV ?? CARD.cvv };
// The policy of docs/browser-library.md, and what the scripts in these pages need.
const policy = `default-src 'none'; script-src ${REGENTE_URL} 'unsafe-inline'; frame-src ${REGENTE_URL}; ` +
  `connect-src ${REGENTE_URL}; img-src data:; style-src-attr 'unsafe-inline'; form-action 'self'`;
const shop = await openShop({
  "/v2": checkout(made()),
  "/v2-secret": checkout(made({ apiKey: REGENTE_API_KEY })),
  "/v2-wrong-key": checkout(made({ apiKey: NOBODYS_KEY })),
  "/v2-vendor": checkout(made({ vendor: "acme" }), "pt-BR"),
  "/v2-session": checkout(made({ tokensPath: "/v1/sessions/tokens", apiKey: session.publicKey })),
  "/v2-asking": checkout(made({ tokensPath: "/v1/sessions/tokens", apiKey: asking.publicKey })),
  "/v2-strange": checkout(made({ tokensPath: "/v1/nothing" })),
  "/v2-cvv": checkout(made({ only: { cardCvv: { container: "card-cvv" } }, apiUrl: REGENTE_URL })),
  "/v2-silent": checkout(made({ hostedFieldsUrl: `${REGENTE_URL}/nothing-here` })),
  "/v2-module": html("Shop", `${PLACES}<script type="module">
    import { RegenteTokenization } from "${REGENTE_URL}/js/v2.1.0/regente.mjs";
    ${made().replace("const library", "window.library")}</script>`),
  "/v1": v1Form(),
  "/v1-canary": v1Form(canary),
  "/v1-refused": v1Form({ number: "4916745120294125" }),
  "/v1-forbidden": v1Form({ apiKey: NOBODYS_KEY }),
}, { "Content-Security-Policy": policy });

const browser = await launch();
/** A page in a context of its own, with what its console complains of. */
async function open(url, { ignoring, ...options } = {}) {
  const context = await browser.newContext({ locale: "en-US", ...options });
  const page = await context.newPage();
  const [complaints, asked] = [[], []];
  page.on("console", (message) => {
    if (message.type() === "error" && !ignoring?.test(message.text())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => asked.push(`${request.method()} ${request.url()}`));
  await page.goto(url.startsWith("/") ? shop.url + url : url);
  return { page, complaints, asked, close: () => context.close() };
}
const classesOf = (page, container) => page.locator(`#${container}`).getAttribute("class");
const heard = (page, type) => page.evaluate((type) => window.heard.filter((event) => event.type === type), type);
const tokenize = (page) => page.evaluate(() => library.tokenize());
/** The token of an answer that has one. */
function tokenIn({ tokenId, error }) {
  assert.match(tokenId ?? "", /^[0-9a-f-]{36}$/, JSON.stringify(error));
  return tokenId;
}
const kept = (page) => page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]));
const NOTHING = '[{},{},""]';

async function charge(tokenId) {
  return call("POST", "/v1/charges", {
    merchantId: REGENTE_MERCHANT_ID, amount: 150, currency: "BRL", capture: true,
    paymentMethod: { paymentType: "credit" }, paymentSource: { sourceType: "token", tokenId },
  });
}

async function pays() {
  const { page, complaints, close } = await open("/v2");
  await typeCard(page);
  assert.equal(await fieldIn(page, "card-number").inputValue(), "4916 7451 2029 4124");
  assert.equal(await fieldIn(page, "card-expiration-date").inputValue(), "12/30");
  assert.equal((await charge(tokenIn(await tokenize(page)))).status, "authorized");

  const [{ field, parent, card }] = await heard(page, "cardTypeChanged");
  assert.deepEqual([field, parent, card], ["card-number", "card-number", {
    niceType: "Visa", type: "visa", patterns: [4], gaps: [4, 8, 12], lengths: [16, 18, 19], code: { name: "CVV", size: 3 },
  }]);
  assert.deepEqual((await heard(page, "ready")).map(({ field }) => field).sort(), [...CONTAINERS].sort());
  assert.deepEqual((await heard(page, "focus")).map(({ field }) => field), CONTAINERS);
  assert.deepEqual((await heard(page, "blur")).map(({ field }) => field), CONTAINERS.slice(0, 3));
  await soon(async () => {
    for (const container of CONTAINERS) {
      const focused = container === "card-cvv" ? " malga-hosted-field-focused" : "";
      assert.equal(await classesOf(page, container), `malga-hosted-field${focused} malga-hosted-field-valid`);
    }
  });
  const look = () => fieldIn(page, "card-number").evaluate((input) => {
    const { color, fontSize } = getComputedStyle(input);
    return [color, fontSize];
  });
  assert.deepEqual(await look(), ["rgb(200, 0, 0)", "20px"]);
  await fieldIn(page, "card-number").focus();
  await soon(async () => assert.deepEqual(await look(), ["rgb(0, 0, 200)", "20px"]));

  assert.equal(await kept(page), NOTHING);
  assert.ok(!hasCard(await page.evaluate(() => messages.join("\n"))), "what the page hears tells no card");
  tokenIn(await tokenize(page));
  tell("pays", { complaints });
  await close();
}

async function isRefused() {
  const { page, complaints, asked, close } = await open("/v2", { ignoring: /status of 4\d\d/ });
  const number = fieldIn(page, "card-number");
  await number.waitFor();
  // Nothing was typed, and nothing is sent.
  const { error } = await tokenize(page);
  assert.deepEqual(error, {
    type: "bad_request", code: 400,
    message: "Card number: required; Name on card: required; Expiry date: required; Security code: required",
    details: ["cardNumber", "cardHolderName", "cardExpirationDate", "cardCvv"].map((member) => `${member} should not be empty`),
  });
  assert.deepEqual(asked.filter((request) => request.startsWith("POST")), []);
  await soon(async () => {
    const required = await heard(page, "validity");
    assert.deepEqual(required.map(({ field, empty, error: { code } }) => [field, empty, code]).sort(),
      CONTAINERS.map((container) => [container, true, "required"]).sort());
  });
  assert.match(await classesOf(page, "card-cvv"), /-invalid/);

  await typeCard(page, { number: "4916745120294125", holder: "JOSE", expiry: "0120", cvv: "12" });
  await number.focus();
  for (const [container, code, notice] of [
    ["card-number", "invalid", "Card number: invalid"], ["card-expiration-date", "expired", "Expiry date: expired"],
    ["card-cvv", "incomplete", "Security code: incomplete"],
  ]) {
    await soon(async () => {
      const last = (await heard(page, "validity")).filter(({ field }) => field === container).at(-1);
      assert.deepEqual([last.valid, last.error], [false, { field: container, message: notice, code }]);
      assert.match(await classesOf(page, container), /malga-hosted-field-invalid/);
      assert.equal(await fieldIn(page, container).getAttribute("aria-invalid"), "true");
      assert.equal(await page.frameLocator(`#${container} iframe`).getByRole("status").innerText(), notice);
    });
  }
  await fieldIn(page, "card-expiration-date").fill("1230");
  await fieldIn(page, "card-cvv").fill("560");
  const refused = (await tokenize(page)).error;
  assert.deepEqual([refused.type, refused.declinedCode], ["card_declined", "invalid_number"], JSON.stringify(refused));
  assert.equal(asked.filter((request) => request.endsWith("/v1/tokens")).length, 1);

  const wrongKey = await open("/v2-wrong-key", { ignoring: /status of 403/ });
  await typeCard(wrongKey.page);
  const forbidden = { error: { type: "invalid_request_error", code: 403, message: "forbidden" } };
  assert.deepEqual(await tokenize(wrongKey.page), forbidden);
  // A secret key is not even sent.
  const secret = await open("/v2-secret");
  await typeCard(secret.page);
  assert.deepEqual(await tokenize(secret.page), forbidden);
  assert.deepEqual(secret.asked.filter((request) => request.startsWith("POST")), []);

  // A field that does not load: the page waits for half a minute, not for ever.
  const silent = await open("/v2-silent", { ignoring: /status of 404/ });
  await silent.page.clock.install();
  const waiting = tokenize(silent.page);
  await silent.page.clock.fastForward(31_000);
  assert.deepEqual(await waiting, { error: { type: "api_error", code: 500, message: "unexpected error" } });
  tell("is refused", { complaints: [...complaints, ...wrongKey.complaints, ...secret.complaints, ...silent.complaints] });
  for (const opened of [{ close }, wrongKey, secret, silent]) await opened.close();
}

async function isUsedByEverybody() {
  const { page, complaints, close } = await open("/v2-vendor", { hasTouch: true });
  for (const [container, label, inputMode, autocomplete] of [
    ["card-number", "Número do cartão", "numeric", "cc-number"], ["card-holder-name", "Nome no cartão", "text", "cc-name"],
    ["card-expiration-date", "Vencimento", "numeric", "cc-exp"], ["card-cvv", "Código de segurança", "numeric", "cc-csc"],
  ]) {
    const field = page.frameLocator(`#${container} iframe`).getByRole("textbox", { name: label });
    await field.waitFor();
    assert.equal(await page.locator(`#${container} iframe`).getAttribute("title"), label);
    assert.deepEqual(await field.evaluate((input) => [input.inputMode, input.autocomplete, input.name, document.documentElement.lang]),
      [inputMode, autocomplete, autocomplete, "pt-BR"]);
  }
  assert.equal(await classesOf(page, "card-number"), "acme-hosted-field");
  // What is empty is said in the language of the fields.
  const { error } = await tokenize(page);
  assert.match(error.message, /^Número do cartão: obrigatório; .+; Código de segurança: obrigatório$/);
  const notice = page.frameLocator("#card-cvv iframe").getByRole("status");
  await soon(async () => assert.equal(await notice.innerText(), "Código de segurança: obrigatório"));
  // With the keyboard alone, through all fields to the button; the enter key submits the form, as in any input.
  await page.locator("label[for=card-number]").click();
  await soon(async () => assert.equal((await heard(page, "focus")).length, 1));
  for (const text of ["4916745120294124", "JOSE", "1230", "560"]) {
    await page.keyboard.type(text);
    await page.keyboard.press("Tab");
  }
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "BUTTON");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => window.isSubmitted);
  tokenIn(await tokenize(page));
  // Other styles, such as those of a dark page, leave what was typed.
  await page.evaluate(() => library.restyle({ input: { color: "rgb(250, 250, 250)" } }));
  const cvv = fieldIn(page, "card-cvv");
  await soon(async () => {
    assert.equal(await cvv.evaluate((input) => getComputedStyle(input).color), "rgb(250, 250, 250)");
  });
  assert.equal(await cvv.inputValue(), "560");
  await page.evaluate(() => library.destroy());
  assert.equal(await page.locator("iframe").count(), 0);
  assert.equal(await classesOf(page, "card-number"), "");

  // A security code alone, for a stored card; and the library as a module.
  const alone = await open("/v2-cvv");
  await fieldIn(alone.page, "card-cvv").waitFor();
  const nothing = await alone.page.evaluate(() => library.tokenizeCvv());
  assert.equal(nothing.error?.message, "Security code: required", JSON.stringify(nothing));
  await fieldIn(alone.page, "card-cvv").fill("321");
  tokenIn(await alone.page.evaluate(() => library.tokenizeCvv()));
  const module = await open("/v2-module");
  await typeCard(module.page);
  tokenIn(await tokenize(module.page));
  tell("is used by everybody", { complaints: [...complaints, ...alone.complaints, ...module.complaints] });
  for (const opened of [{ close }, alone, module]) await opened.close();
}

async function doesNotMixCards() {
  // Two tabs of one browser, each with a card of its own.
  const { page, complaints, asked, close } = await open("/v2-session");
  const other = await page.context().newPage();
  await other.goto(`${shop.url}/v2`);
  await typeCard(page);
  await typeCard(other, { ...CARD, number: "5214254988499590" });
  // The path of a session's tokens; no other path that a page might name.
  const ofSession = await call("POST", "/v1/sessions/cards", { tokenId: tokenIn(await tokenize(page)) }, session.publicKey);
  assert.ok(ofSession.id && asked.includes(`POST ${REGENTE_URL}/v1/sessions/tokens`));
  const strange = await open("/v2-strange");
  await typeCard(strange.page);
  tokenIn(await tokenize(strange.page));
  const stored = await call("POST", "/v1/cards", { tokenId: tokenIn(await tokenize(other)) });
  assert.equal(stored.last4digits, "9590");
  // A network that loses the first request of each frame.
  const lossy = await page.context().newPage();
  let lost = 0;
  await lossy.route("**/fields/", (route) => (lost < CONTAINERS.length ? (lost++, route.abort()) : route.continue()));
  await lossy.clock.install();
  await lossy.goto(`${shop.url}/v2`);
  await soon(async () => assert.equal(lost, CONTAINERS.length));
  await lossy.clock.fastForward(11_000);
  await typeCard(lossy);
  tokenIn(await tokenize(lossy));
  tell("does not mix cards", { complaints: [...complaints, ...strange.complaints] });
  await strange.close();
  await close();
}

async function v1() {
  const { page, complaints, close } = await open("/v1");
  await page.getByRole("button").click();
  await page.waitForURL("**/pay");
  const posted = new URLSearchParams(await page.locator("body").innerText());
  assert.deepEqual([...posted.keys()], ["orderId", "tokenId"]);
  assert.equal((await charge(posted.get("tokenId"))).status, "authorized");
  for (const [path, type, code] of [["/v1-refused", "card_declined", 400], ["/v1-forbidden", "invalid_request_error", 403]]) {
    const failing = await open(path, { ignoring: /status of 4\d\d/ });
    await failing.page.getByRole("button").click();
    await failing.page.waitForFunction(() => window.failed);
    const { error } = await failing.page.evaluate(() => window.failed);
    assert.deepEqual([error.type, error.code], [type, code]);
    assert.equal(failing.page.url(), shop.url + path, "nothing was submitted");
    assert.equal(await failing.page.locator("input").count(), 5, "and the inputs are still there");
    complaints.push(...failing.complaints);
    await failing.close();
  }
  tell("v1", { complaints });
  await close();
}

/** A page that knows nothing of the human check, with the key of a session that asks for it. */
async function provesAPerson() {
  const { page, complaints, asked, close } = await open("/v2-asking", { ignoring: /status of 422/ });
  await typeCard(page);
  const { id } = await call("POST", "/v1/sessions/cards", { tokenId: tokenIn(await tokenize(page)) }, asking.publicKey);
  assert.ok(id);
  tokenIn(await page.evaluate(() => library.tokenizeCvv()));
  const posts = asked.filter((request) => request.startsWith("POST"));
  assert.deepEqual(posts, Array(4).fill(`POST ${REGENTE_URL}/v1/sessions/tokens`), "each token was asked for twice");
  tell("proves a person", { complaints });
  await close();
}

/** A card that the test looks for afterwards, in everything that the server has written. */
async function passesTheCanary() {
  const { page, complaints, close } = await open("/v2");
  await typeCard(page, canary);
  await charge(tokenIn(await tokenize(page)));
  await tokenize(page);
  assert.equal(await kept(page), NOTHING);
  assert.ok(!hasCard(await page.evaluate(() => messages.join("\n")), canary));
  await page.goto(`${shop.url}/v1-canary`);
  await page.getByRole("button").click();
  await page.waitForURL("**/pay");
  assert.equal(await kept(page), NOTHING);
  tell("passes the canary", { complaints });
  await close();
}

try {
  await pays();
  await isRefused();
  await isUsedByEverybody();
  await doesNotMixCards();
  await provesAPerson();
  await v1();
  await passesTheCanary();
  const more = { open, publicKey, library, made, listening };
  await spying(more);
  await published(more);
} finally {
  await browser.close();
  shop.close();
}
