// A person of the shop is invited to the dashboard. A buyer calls: they find the charge, see why it went that way, and refund a part. On a
// desktop and on a phone, light and dark. Prints one line of JSON for each. With PICTURES it keeps pictures there.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import fs from "node:fs";
import { createRequire } from "node:module";
import { REGENTE_MERCHANT_ID, REGENTE_URL, call, launch } from "./shop.mjs";

const { PICTURES, INVITATION, REGENTE_FALLBACK_MERCHANT_ID } = process.env;
const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8");
if (PICTURES) fs.mkdirSync(PICTURES, { recursive: true });

/** The code of a phone (RFC 6238) for a secret in base 32. */
function codeOf(secret) {
  const bits = [...secret].map((letter) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const hash = createHmac("sha1", key).update(step).digest();
  const at = hash[19] & 15;
  return String((hash.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

const charge = (merchantId, orderId, card) =>
  call("POST", "/v1/charges", {
    merchantId, orderId, amount: 123_456, capture: true, statementDescriptor: "SHOP",
    paymentMethod: { paymentType: "credit", installments: 1 },
    paymentSource: { sourceType: "card", card: { cardHolderName: "JOSE DAS NEVES", cardExpirationDate: "12/2030", ...card } },
  });
const GOOD = { cardNumber: "4916745120294124", cardCvv: "560" };
const REFUSED = { cardNumber: "4556684530238865", cardCvv: "440" };

/** What axe finds in the page. */
async function violations(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { iframes: false }));
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`);
}

const browser = await launch();
try {
  // The invitation makes the member, and signs them in.
  const first = await browser.newContext({ locale: "en-US", viewport: { width: 1280, height: 900 } });
  first.setDefaultTimeout(30_000);
  const invited = await first.newPage();
  await invited.goto(INVITATION);
  if (PICTURES) await invited.screenshot({ path: `${PICTURES}/invitation.png`, fullPage: true });
  const secret = (await invited.locator("main code").innerText()).replaceAll(" ", "");
  await invited.locator("input[name=name]").fill("Rita Lima");
  await invited.locator("input[name=password]").fill("a long password");
  await invited.locator("input[name=code]").fill(codeOf(secret));
  await invited.locator("main button.go").click();
  await invited.locator("main li code").first().waitFor();
  if (PICTURES) await invited.screenshot({ path: `${PICTURES}/recovery.png`, fullPage: true });
  const state = await first.storageState();
  await first.close();

  await charge(REGENTE_MERCHANT_ID, "order-refused", REFUSED);
  for (const [colorScheme, width, locale] of [["light", 1280, "en-US"], ["dark", 360, "pt-BR"], ["dark", 1280, "es-AR"], ["light", 360, "en-US"]]) {
    const orderId = `order-${colorScheme}-${width}`;
    const { id } = await charge(REGENTE_FALLBACK_MERCHANT_ID, orderId, GOOD);
    const context = await browser.newContext({ colorScheme, locale, viewport: { width, height: 800 }, storageState: state });
    context.setDefaultTimeout(30_000);
    const page = await context.newPage();
    const [complaints, outside, found, overflow] = [[], [], [], []];
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => {
      if (!/^data:/.test(request.url()) && !request.url().startsWith(`${REGENTE_URL}/dashboard`)) outside.push(request.url());
    });
    const keep = async (name) => {
      if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}-${colorScheme}-${width}.png`, fullPage: true });
      overflow.push(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth));
      found.push(...(await violations(page)));
    };

    await page.goto(`${REGENTE_URL}/dashboard`);
    await keep("home");
    // The first stop of the keyboard leads past the navigation.
    await page.keyboard.press("Tab");
    assert.equal(await page.locator(":focus").getAttribute("class"), "skip");
    await page.goto(`${REGENTE_URL}/dashboard/charges`);
    await keep("charges");
    await page.goto(`${REGENTE_URL}/dashboard/charges?status=failed`);
    assert.equal(await page.locator("tbody tr").count(), 1);
    await page.locator("tbody a").click();
    await page.getByText("restricted_card").first().waitFor();
    await keep("refused");

    await page.goto(`${REGENTE_URL}/dashboard`);
    await page.locator("input[name=q]").fill(orderId);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/dashboard/charges/${id}`);
    await keep("charge");
    await page.locator(`a[href$="/${id}/refund"]`).click();
    await keep("refund");
    await page.locator("input[name=amount]").fill("abc");
    await page.keyboard.press("Enter");
    await page.locator("[role=alert]").waitFor();
    await keep("refund-wrong");
    await page.locator("input[name=amount]").fill(locale === "en-US" ? "1,000.50" : "1.000,50");
    await page.keyboard.press("Enter");
    await page.locator("input[name=key]").waitFor({ state: "attached" });
    await keep("confirm");
    await page.locator("form button.danger").dblclick();
    await page.waitForURL("**?done=refund");
    await page.getByRole("status").waitFor();
    await keep("refunded");
    const after = await call("GET", `/v1/charges/${id}`);
    const refunds = after.transactionRequests.filter(({ requestType }) => requestType === "void");
    // A page that answers an error is a line in the console, and is meant here.
    const unexpected = complaints.filter((complaint) => !complaint.includes("status of 400"));
    console.log(JSON.stringify({
      story: `${colorScheme} ${width}`, left: after.amount, refunds: refunds.length, complaints: unexpected, outside, violations: found,
      overflow: overflow.filter((pixels) => pixels > 0),
    }));
    await context.close();
  }
} finally {
  await browser.close();
}
