// How heavy the first page of the checkout is, and how soon a buyer can use it on a slow network with a slow processor. Asks a
// running service; prints one line of JSON.
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const { REGENTE_URL, REGENTE_CLIENT_ID, REGENTE_API_KEY, REGENTE_MERCHANT_ID, CHROMIUM = "/usr/bin/chromium" } = process.env;
/** A slow 3G: 400 kbit/s, 400 ms there and back. A phone: a quarter of this processor. */
const NETWORK = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 };
const SLOWER = 4;
const ROUNDS = 5;

const answer = await fetch(`${REGENTE_URL}/v1/sessions`, {
  method: "POST",
  headers: { "X-Client-Id": REGENTE_CLIENT_ID, "X-Api-Key": REGENTE_API_KEY, "Content-Type": "application/json" },
  body: JSON.stringify({
    merchantId: REGENTE_MERCHANT_ID, amount: 123456, name: "Order 77",
    paymentMethods: [
      { paymentType: "credit", installments: 12 }, { paymentType: "pix", expiresIn: 3600 }, { paymentType: "boleto", expiresDate: "2030-12-31" },
    ],
    items: [{ name: "Running shoe", unitPrice: 110000, quantity: 1 }, { name: "Sock", unitPrice: 6728, quantity: 2 }],
  }),
});
assert.ok(answer.ok, `${answer.status} ${await answer.clone().text()}`);
const { id } = await answer.json();

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
const rounds = [];
for (let round = 0; round < ROUNDS; round++) {
  const context = await browser.newContext({ locale: "pt-BR", viewport: { width: 390, height: 844 }, isMobile: true });
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send("Network.enable");
  await devtools.send("Network.emulateNetworkConditions", NETWORK);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
  const bytes = new Map();
  const addresses = new Map();
  devtools.on("Network.requestWillBeSent", ({ requestId, request }) => addresses.set(requestId, request.url));
  devtools.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => bytes.set(requestId, encodedDataLength));
  await page.addInitScript(() => {
    if (parent !== self) return;
    const note = (name) => (globalThis[name] ??= performance.now());
    new MutationObserver(() => {
      if ("ready" in document.documentElement.dataset) note("interactiveAt");
      const fields = document.querySelectorAll(".hosted");
      if (fields.length && !document.querySelector(".hosted.skeleton")) note("fieldsAt");
    }).observe(document, { attributes: true, childList: true, subtree: true });
  });
  await page.goto(`${REGENTE_URL}/pay/${id}`);
  await page.waitForFunction(() => globalThis.fieldsAt);
  const times = await page.evaluate(() => ({
    painted: performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
    interactive: globalThis.interactiveAt, fields: globalThis.fieldsAt,
  }));
  const [document] = [...bytes].filter(([request]) => addresses.get(request).includes("/pay/")).map(([, one]) => one);
  rounds.push({ ...times, document, all: [...bytes.values()].reduce((sum, one) => sum + one, 0) });
  await context.close();
}
await browser.close();
// Of every round, from the best to the worst.
const sorted = (name) => rounds.map((round) => Math.round(round[name])).sort((one, other) => one - other);
console.log(JSON.stringify({
  bytes: { document: sorted("document").at(-1), withFields: sorted("all").at(-1) },
  milliseconds: { painted: sorted("painted"), interactive: sorted("interactive"), cardFields: sorted("fields") },
}));
