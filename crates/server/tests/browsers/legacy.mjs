// A page that keeps the card itself, as those with the published library do, where the operator does not serve such pages. Prints
// one line of JSON for each story.
import assert from "node:assert/strict";
import { HAND } from "./published.mjs";
import { PLACES, REGENTE_CLIENT_ID, REGENTE_URL, call, fieldIn, launch, openShop, page as html, soon, tell, typeCard } from "./shop.mjs";

const { publicKey } = await call("POST", "/v1/auth", { scope: ["tokens"], expires: 3600 });
const members = { cardNumber: "card-number", cardHolderName: "card-holder-name", cardExpirationDate: "card-expiration-date", cardCvv: "card-cvv" };
const fields = Object.fromEntries(Object.entries(members).map(([member, container]) => [member, { container }]));
const shop = await openShop({
  "/": html("Shop", `${PLACES}<script>${HAND}</script>`),
  "/own": html("Shop", `${PLACES}<script src="${REGENTE_URL}/js/v2.1.0/regente.js"></script><script>
    const library = new RegenteTokenization(${JSON.stringify({ apiKey: publicKey, clientId: REGENTE_CLIENT_ID, options: { config: { fields } } })});
  </script>`),
});
const browser = await launch();
try {
  const page = await browser.newPage();
  const [posts, complaints] = [[], []];
  page.on("request", (request) => request.method() === "POST" && posts.push(request.url()));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  await page.goto(shop.url);
  for (const container of Object.values(members)) await page.evaluate((container) => add(container), container);
  // Whoever wrote the page reads why; there is nothing to type into.
  await soon(() => assert.equal(complaints.length, 4));
  for (const complaint of complaints) assert.match(complaint, /not served here \(fields\.legacy_pages\)/);
  for (const container of Object.values(members)) assert.equal(await fieldIn(page, container).count(), 0);
  // The page is answered, so that it does not wait for ever, and what it keeps is not sent.
  await page.evaluate(() => sessionStorage.setItem("malga-card", JSON.stringify({
    cardNumber: "4916745120294124", cardHolderName: "JOSE DAS NEVES", cardExpirationDate: "12/2030", cardCvv: "560",
  })));
  assert.deepEqual(await page.evaluate((key) => tokenize(key), publicKey),
    { error: { type: "invalid_request_error", code: 403, message: "forbidden" } });
  assert.deepEqual(posts, []);
  assert.deepEqual(await page.evaluate(() => heard.map(({ eventType }) => eventType)), ["tokenize"], "it is told nothing else");

  // Pages with our own library are not touched by that.
  await page.goto(`${shop.url}/own`);
  await typeCard(page);
  const { tokenId, error } = await page.evaluate(() => library.tokenize());
  assert.ok(tokenId, JSON.stringify(error));
  tell("is not served", { complaints: complaints.slice(4) });
} finally {
  await browser.close();
  shop.close();
}
