// A page that speaks to the fields as the published library does: without a channel, with the values in its own storage.
import assert from "node:assert/strict";
import {
  CARD, CONTAINERS, PLACES, REGENTE_API_KEY, REGENTE_CLIENT_ID, REGENTE_URL, call, fieldIn, openShop, page as html, soon, tell,
  typeCard,
} from "./shop.mjs";

export const HAND = `
  window.heard = [];
  window.add = (container, more) => new Promise((loaded) => {
    const frame = document.createElement("iframe");
    for (const [name, value] of Object.entries({ name: container, src: "${REGENTE_URL}/fields/", width: "100%", height: "100%" })) {
      frame.setAttribute(name, value);
    }
    document.getElementById(container).replaceChildren(frame);
    frame.onload = () => {
      const { preventAutofill, authorizationData, ...fieldConfig } = { container, ...more };
      frame.contentWindow.postMessage({
        type: "setTypeField", field: container, fieldConfig, styles: { input: { color: "#000", "font-size": "16px" } },
        preventAutofill, authorizationData, debug: undefined, sandbox: true,
      }, "*");
      loaded();
    };
  });
  addEventListener("message", ({ origin, data: { eventType, data } }) => {
    if (origin !== "${REGENTE_URL}") return;
    heard.push({ eventType, ...data });
    if (eventType !== "updateCardValues") return;
    const member = data.field.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());
    const card = JSON.parse(sessionStorage.getItem("malga-card") ?? "{}");
    sessionStorage.setItem("malga-card", JSON.stringify({ ...card, [member]: data.value }));
  });
  window.tokenize = (apiKey, clientId = "${REGENTE_CLIENT_ID}") => new Promise((told) => {
    addEventListener("message", ({ data }) => { if (data.eventType === "tokenize") told(data.data); });
    document.querySelector("iframe[name=card-number]").contentWindow.postMessage({ eventType: "submit", data: {
      authorizationData: { clientId, apiKey }, sandbox: true, debug: undefined,
      card: JSON.parse(sessionStorage.getItem("malga-card") ?? "{}"),
    } }, "${REGENTE_URL}");
  });`;

const NOBODYS_ID = "3f1c1b1e-2a7b-4a57-9d35-000000000000";

/** What is typed into a field, what it shows, what its value is, and what is wrong when it is left. */
const TYPED = [
  ["card-number", "4916745120294124", "4916 7451 2029 4124", "4916745120294124", null, "visa"],
  ["card-number", "4916-7451 2029x4124", "4916 7451 2029 4124", "4916745120294124", null, "visa"],
  ["card-number", "3782822463100059", "3782 822463 10005", "378282246310005", null, "american-express"],
  ["card-number", "6362970000457013", "6362 9700 0045 7013", "6362970000457013", null, "elo"],
  ["card-number", "4916", "4916", "4916", "incomplete", "visa"],
  ["card-number", "4916745120294125", "4916 7451 2029 4125", "4916745120294125", "invalid", "visa"],
  ["card-number", "49167451{ArrowLeft}{ArrowLeft}{Backspace}9", "4916 7951", "49167951", "incomplete", "visa"],
  ["card-holder-name", "Zoé d'Ávila 2nd", "Zoé d'Ávila 2nd", "Zoé d'Ávila 2nd", null],
  ["card-holder-name", "4916745120294124", "4916745120294124", "4916745120294124", "invalid"],
  ["card-expiration-date", "1230", "12/30", "12/2030", null],
  ["card-expiration-date", "12/2030", "12/2030", "12/2030", null],
  ["card-expiration-date", "5", "05/", "05/", "incomplete"],
  ["card-expiration-date", "1/35", "01/35", "01/2035", null],
  ["card-expiration-date", "123{Backspace}{Backspace}", "1", "1", "incomplete"],
  ["card-expiration-date", "1330", "13/30", "13/2030", "invalid"],
  ["card-expiration-date", "0121", "01/21", "01/2021", "expired"],
  ["card-cvv", "12a345", "1234", "1234", null],
  ["card-cvv", "12", "12", "12", "incomplete"],
];

export async function published({ open, publicKey }) {
  const shop = await openShop({ "/": html("Shop", `${PLACES}<script>${HAND}</script>`) });
  const { page, complaints, asked, close } = await open(`${shop.url}/`);
  const frame = async (container, more = {}) => {
    await page.evaluate(([container, more]) => { heard.length = 0; return add(container, more); }, [container, more]);
    await fieldIn(page, container).click();
  };
  /** The messages of a type, once there are so many. */
  const heard = async (eventType, least = 0) => {
    const found = await page.waitForFunction(([type, least]) => {
      const found = heard.filter(({ eventType }) => eventType === type);
      return found.length >= least && found;
    }, [eventType, least]);
    return found.jsonValue();
  };

  for (const [container, typed, shown, value, code, type] of TYPED) {
    await frame(container);
    for (const part of typed.split(/(\{\w+\})/)) {
      if (part.startsWith("{")) await page.keyboard.press(part.slice(1, -1));
      else await page.keyboard.type(part);
    }
    await fieldIn(page, container).blur();
    const what = `${container}: ${typed}`;
    // The last message of a field that is left.
    await soon(async () => assert.ok((await heard("blur")).some(({ field }) => field === container)));
    assert.equal(await fieldIn(page, container).inputValue(), shown, what);
    assert.deepEqual((await heard("updateCardValues")).at(-1), { eventType: "updateCardValues", field: container, value }, what);
    const { valid, empty, potentialValid, error } = (await heard("validity")).at(-1);
    assert.deepEqual([valid, empty, potentialValid, error?.code ?? null], [code === null, false, false, code], what);
    if (type) assert.equal((await heard("cardTypeChanged")).at(-1).card.type, type, what);
  }
  // While a value is being typed it may become right; an empty field is required.
  await frame("card-cvv", { type: "tel", placeholder: "999", preventAutofill: true });
  await page.keyboard.type("1");
  await page.keyboard.press("Backspace");
  const [first, last] = (await heard("validity", 2)).filter(({ field }) => field === "card-cvv");
  assert.deepEqual([first.potentialValid, first.error.code, last.empty, last.error.code], [true, "incomplete", true, "required"]);
  assert.deepEqual(await fieldIn(page, "card-cvv").evaluate(({ type, placeholder, autocomplete }) => [type, placeholder, autocomplete]),
    ["tel", "999", "off"]);
  // A page that masks and checks by itself.
  await frame("card-number", { needMask: false, defaultValidation: false });
  await page.keyboard.type("4916745120294124 ");
  assert.equal(await fieldIn(page, "card-number").inputValue(), "4916745120294124 ");
  assert.equal((await heard("updateCardValues", 17)).at(-1).value, "4916745120294124");
  assert.deepEqual((await heard("validity")).filter(({ field }) => field === "card-number"), []);

  for (const container of CONTAINERS) await frame(container);
  await page.evaluate(() => sessionStorage.setItem("malga-card", JSON.stringify({ cardNumber: "4916745120294124", cardCvv: " " })));
  const unfinished = await page.evaluate((key) => tokenize(key), publicKey);
  assert.equal(unfinished.error?.message, "Name on card: required; Expiry date: required; Security code: required");
  await typeCard(page);
  const card = { cardNumber: CARD.number, cardHolderName: CARD.holder, cardExpirationDate: "12/2030", cardCvv: CARD.cvv };
  await soon(async () => {
    assert.deepEqual(await page.evaluate(() => JSON.parse(sessionStorage.getItem("malga-card"))), card);
  });
  const { tokenId, error } = await page.evaluate((key) => tokenize(key), publicKey);
  assert.ok(tokenId, JSON.stringify(error));
  const stored = await call("POST", "/v1/cards", { tokenId });
  assert.deepEqual([stored.cardHolderName, stored.last4digits], [CARD.holder, "4124"]);
  const forbidden = { error: { type: "invalid_request_error", code: 403, message: "forbidden" } };
  assert.deepEqual(await page.evaluate((key) => tokenize(key), REGENTE_API_KEY), forbidden);
  // The card goes to the account of the first message that names one, with whichever of its keys, and to no other.
  const posts = () => asked.filter((request) => request.startsWith("POST")).length;
  const before = posts();
  assert.deepEqual(await page.evaluate(([key, id]) => tokenize(key, id), [publicKey, NOBODYS_ID]), forbidden);
  assert.equal(posts(), before, "nothing was sent");
  const renewed = await call("POST", "/v1/auth", { scope: ["tokens"], expires: 3600 });
  assert.ok((await page.evaluate((key) => tokenize(key), renewed.publicKey)).tokenId);
  // A page may name it when it makes the field, before anybody else can.
  await frame("card-number", { authorizationData: { clientId: NOBODYS_ID } });
  assert.deepEqual(await page.evaluate((key) => tokenize(key), publicKey), forbidden);
  assert.equal(posts(), before + 1);
  const kinds = await page.evaluate(() => [...new Set(heard.map(({ eventType }) => eventType))].sort());
  assert.deepEqual(kinds, ["blur", "cardTypeChanged", "focus", "tokenize", "updateCardValues", "validity"]
    .filter((kind) => kinds.includes(kind)), "no message that the published library does not know");
  tell("speaks as published", { complaints });
  await close();
  shop.close();
}
