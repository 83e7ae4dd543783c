// The library that others have published, as it comes from npm, in a shop's page: it finds our fields under the name of the
// host that it knows, which the browser resolves to Regente.
import assert from "node:assert/strict";
import fs from "node:fs";
import https from "node:https";
import {
  CARD, CONTAINERS, PLACES, REGENTE_API_KEY, REGENTE_CLIENT_ID, REGENTE_MERCHANT_ID, REGENTE_URL, call, fieldIn, launch, openShop, page as html, soon, tell,
  typeCard,
} from "./shop.mjs";

const { FIELDS_HOST, API_HOST } = process.env;
const text = fs.readFileSync(new URL("./published/package/dist/index.js", import.meta.url), "utf8");
const { publicKey } = await call("POST", "/v1/auth", { scope: ["tokens"], expires: 3600 });
const members = ["cardNumber", "cardHolderName", "cardExpirationDate", "cardCvv"];
const fields = Object.fromEntries(members.map((member, place) => [member, { container: CONTAINERS[place] }]));
const checkout = (apiKey) => html("Shop", `${PLACES}<script type="module">
  import { MalgaTokenization } from "/published.js";
  window.library = new MalgaTokenization(${JSON.stringify({
    apiKey, clientId: REGENTE_CLIENT_ID, options: { config: { fields, styles: { input: { color: "rgb(9, 9, 9)" } } }, sandbox: true },
  })});
  window.heard = [];
  for (const type of ["validity", "cardTypeChanged", "focus", "blur"]) library.on(type, ({ field }) => heard.push(type + " " + field));
</script>`);
/** Asks the server as if from, or under, the name of the fields' host. */
const ask = (method, path, headers, body = "") => new Promise((resolve, reject) => {
  const request = https.request(`${REGENTE_URL}${path}`, { method, headers, ca: fs.readFileSync(process.env.NODE_EXTRA_CA_CERTS) }, async (answer) => {
    const chunks = [];
    for await (const chunk of answer) chunks.push(chunk);
    resolve({ status: answer.statusCode, headers: answer.headers, text: Buffer.concat(chunks).toString() });
  });
  request.on("error", reject).end(body);
});

// At the root of their own origin, and nowhere else, there is the document of the fields; it calls the API's address.
const root = await ask("GET", "/", { Host: FIELDS_HOST });
assert.equal(root.status, 200);
assert.ok(root.headers["content-security-policy"].includes(`connect-src https://${API_HOST};`), root.headers["content-security-policy"]);
assert.ok(root.text.includes(`data-api="https://${API_HOST}"`), root.text);
assert.equal((await ask("POST", "/", { Host: FIELDS_HOST })).status, 404);
assert.equal((await ask("GET", "/", {})).status, 404);
// A secret key does nothing there.
for (const [origin, key, status] of [
  [`https://${FIELDS_HOST}`, REGENTE_API_KEY, 403], [`https://${FIELDS_HOST}`, publicKey, 201], [REGENTE_URL, REGENTE_API_KEY, 201],
]) {
  const headers = { Origin: origin, "X-Client-Id": REGENTE_CLIENT_ID, "X-Api-Key": key };
  assert.equal((await ask("POST", "/v1/tokens", headers, JSON.stringify({ cvvUpdate: "123" }))).status, status, origin);
}

const pages = {
  "/": checkout(publicKey), "/secret": checkout(REGENTE_API_KEY), "/published.js": { type: "text/javascript", text },
};
const shop = await openShop(pages);
const library = `<script src="https://${API_HOST}/js/v2.1.0/regente.js"></script>`;
const own = (apiKey, more) => html("Shop", `${PLACES}${library}<script>const library = new MalgaTokenization(${JSON.stringify({
  apiKey, clientId: REGENTE_CLIENT_ID, options: { config: { fields }, hostedFieldsUrl: `https://${FIELDS_HOST}/`, ...more },
})})</script>`);
const session = await call("POST", "/v1/sessions", {
  merchantId: REGENTE_MERCHANT_ID, items: [{ name: "Shoe", unitPrice: 150, quantity: 1 }], captchaEnabled: true,
  paymentMethods: [{ paymentType: "credit", installments: 1 }],
});
pages["/own"] = own(publicKey);
pages["/asking"] = own(session.publicKey, { tokensPath: "/v1/sessions/tokens" });
const browser = await launch(`--host-resolver-rules=${[FIELDS_HOST, API_HOST].map((host) => `MAP ${host}:443 ${new URL(REGENTE_URL).host}`).join(",")}`);
try {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  await page.goto(shop.url);
  await typeCard(page);
  assert.equal(new URL(await page.locator("#card-cvv iframe").getAttribute("src")).host, FIELDS_HOST);
  assert.equal(await fieldIn(page, "card-number").evaluate((input) => getComputedStyle(input).color), "rgb(9, 9, 9)");
  const { tokenId, error } = await page.evaluate(() => library.tokenize());
  assert.ok(tokenId, JSON.stringify(error));
  const card = await call("POST", "/v1/cards", { tokenId });
  assert.deepEqual([card.cardHolderName, card.last4digits, card.expirationYear], [CARD.holder, "4124", "2030"]);
  await soon(async () => {
    for (const container of CONTAINERS) {
      assert.match(await page.locator(`#${container}`).getAttribute("class"), /malga-hosted-field-valid/);
    }
    const heard = await page.evaluate(() => heard);
    for (const event of ["validity card-number", "cardTypeChanged card-number", "focus card-cvv", "blur card-number"]) {
      assert.ok(heard.includes(event), `${event}: ${heard}`);
    }
  });
  await fieldIn(page, "card-number").fill("4916745120294125");
  // The library keeps the values itself, and its frames tell it of them.
  await soon(async () => {
    assert.doesNotMatch(await page.locator("#card-number").getAttribute("class"), /malga-hosted-field-valid/);
  });
  const refused = (await page.evaluate(() => library.tokenize())).error;
  assert.deepEqual([refused.type, refused.declinedCode], ["card_declined", "invalid_number"]);
  await page.goto(`${shop.url}/secret`);
  await typeCard(page);
  assert.equal((await page.evaluate(() => library.tokenize())).error.code, 403);

  // Our library with the fields at the same origin, which is another site than the shop's: their frames find each other.
  // A session that asks for a person is answered from there, too.
  for (const path of ["/own", "/asking"]) {
    await page.goto(shop.url + path);
    await typeCard(page);
    const made = await page.evaluate(() => library.tokenize());
    assert.ok(made.tokenId, `${path}: ${JSON.stringify(made)}`);
  }
  tell("published", { complaints: complaints.filter((text) => !/status of 4(00|22)/.test(text)) });
} finally {
  await browser.close();
  shop.close();
}
