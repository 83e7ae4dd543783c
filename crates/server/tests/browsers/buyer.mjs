// A shop and its buyer: the shop's pages post forms as shops do, the buyer is a real browser. Prints one line of JSON for
// each decision of a cardholder; the test reads them.
import assert from "node:assert/strict";
import http from "node:http";
import { chromium } from "playwright-core";

const { REGENTE_URL, REGENTE_CLIENT_ID, REGENTE_API_KEY, REGENTE_MERCHANT_ID, CHROMIUM } = process.env;
const escape = (text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");

/** The shop's pages, by path. */
const pages = new Map();
const shop = http.createServer((request, response) => {
  const { pathname } = new URL(request.url, "http://shop");
  const page = pages.get(pathname);
  response.writeHead(page ? 200 : 404, { "Content-Type": "text/html; charset=utf-8" });
  response.end(page ?? "nothing here");
});
await new Promise((listening) => shop.listen(0, "127.0.0.1", listening));
const shopUrl = `http://127.0.0.1:${shop.address().port}`;
pages.set("/return", '<!doctype html><title>Back at the shop</title><link rel="icon" href="data:,"><p>Thank you.</p>');

/** A page whose frame is sent a form. */
function framed(title, action, fields, script) {
  const inputs = Object.entries(fields)
    .map(([name, value]) => `<input type="hidden" name="${name}" value="${escape(value)}">`)
    .join("");
  return `<!doctype html><title>${title}</title><link rel="icon" href="data:,"><iframe name="frame" title="${title}" width="480" height="480"></iframe>
    <form id="form" method="post" target="frame" action="${escape(action)}">${inputs}</form>
    <script>${script}; document.getElementById("form").submit();</script>`;
}

async function call(method, path, body) {
  const answer = await fetch(`${REGENTE_URL}${path}`, {
    method,
    headers: {
      "X-Client-Id": REGENTE_CLIENT_ID, "X-Api-Key": REGENTE_API_KEY, "Content-Type": "application/json",
    },
    body: body && JSON.stringify(body),
  });
  const told = await answer.json();
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${JSON.stringify(told)}`);
  return told;
}

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
try {
  for (const [decision, button] of [["approve", "Approve"], ["refuse", "Refuse"], ["abandon", null]]) {
    const context = await browser.newContext({ locale: "en-US" });
    const page = await context.newPage();
    const complaints = [];
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));

    const card = { cardHolderName: "JOAO DA SILVA", cardNumber: "4000000000002503", cardCvv: "120", cardExpirationDate: "12/2030" };
    const { tokenId } = await call("POST", "/v1/tokens", card);
    const setup = await call("POST", "/v1/charges/3ds/setup", { sourceType: "token", tokenId });

    // The device is looked at in a hidden frame, which tells when it is done.
    const listen = `addEventListener("message", (event) => { document.title = "collected by " + event.origin; })`;
    pages.set("/collect", framed("Device", setup.collectUrl, { JWT: setup.token }, listen));
    await page.goto(`${shopUrl}/collect`);
    await page.waitForFunction(() => document.title.startsWith("collected by "));
    assert.equal(await page.title(), `collected by ${new URL(setup.collectUrl).origin}`);

    const charge = await call("POST", "/v1/charges", {
      merchantId: REGENTE_MERCHANT_ID, amount: 150, currency: "BRL", capture: true,
      paymentMethod: { paymentType: "credit" }, paymentSource: { sourceType: "token", tokenId },
      threeDSecure2: {
        setupId: setup.id, requiresLiabilityShift: true, redirectURL: `${shopUrl}/return`, requestorURL: shopUrl,
        browser: {
          acceptHeader: "*/*", colorDepth: 24, javaEnabled: false, javaScriptEnabled: true, language: "en-US",
          screenHeight: 720, screenWidth: 1280, timeZoneOffset: "180",
          userAgent: await page.evaluate(() => navigator.userAgent), ip: "203.0.113.9",
        },
      },
    });
    assert.equal(charge.status, "pending");
    const { stepUrl, token } = charge.threeDSecure2.authData.response;
    pages.set("/challenge", framed("Challenge", stepUrl, { JWT: token }, ""));
    await page.goto(`${shopUrl}/challenge`);
    const challenge = page.frameLocator("iframe[name=frame]");
    await challenge.getByRole("heading", { level: 1 }).waitFor();
    assert.match(await challenge.locator("dl").innerText(), /1\.50/);
    if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/${decision}.png` });
    if (button) {
      // With the keyboard alone.
      await challenge.getByRole("button", { name: button }).focus();
      await page.keyboard.press("Enter");
      const back = () => page.frame({ name: "frame" }).url();
      for (let tries = 0; !back().startsWith(`${shopUrl}/return`) && tries < 600; tries++) {
        await page.waitForTimeout(50);
      }
      assert.equal(back(), `${shopUrl}/return?chargeId=${charge.id}`);
    } else {
      await page.close();
    }
    const after = await call("GET", `/v1/charges/${charge.id}`);
    console.log(JSON.stringify({ decision, charge: after, complaints }));
    await context.close();
  }
} finally {
  await browser.close();
  shop.close();
}
