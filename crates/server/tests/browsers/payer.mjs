// A shop and the payer of a NuPay, who pays or refuses at the page of the simulator. Prints one line of JSON for each decision;
// the test reads them.
import assert from "node:assert/strict";
import http from "node:http";
import { chromium } from "playwright-core";

const { REGENTE_URL, REGENTE_CLIENT_ID, REGENTE_API_KEY, REGENTE_MERCHANT_ID, CHROMIUM } = process.env;

const shop = http.createServer((request, response) => {
  response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" });
  response.end('<!doctype html><title>Back at the shop</title><link rel="icon" href="data:,"><p>Thank you.</p>');
});
await new Promise((listening) => shop.listen(0, "127.0.0.1", listening));
const shopUrl = `http://127.0.0.1:${shop.address().port}`;

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

/** The charge once the simulator has told what the payer did. */
async function told(id) {
  for (let tries = 0; tries < 600; tries++) {
    const charge = await call("GET", `/v1/charges/${id}`);
    if (charge.status !== "pending") return charge;
    await new Promise((passed) => setTimeout(passed, 100));
  }
  throw new Error("the simulator tells nothing");
}

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
try {
  for (const [decision, button, back] of [["pay", "Pay", "/paid?order=1&step=2"], ["refuse", "Refuse", "/refused"]]) {
    const charge = await call("POST", "/v1/charges", {
      merchantId: REGENTE_MERCHANT_ID, amount: 150, currency: "BRL", orderId: "231",
      paymentMethod: {
        paymentType: "nupay", returnUrl: `${shopUrl}/paid?order=1&step=2`, cancelUrl: `${shopUrl}/refused`,
      },
      paymentSource: {
        sourceType: "customer",
        customer: {
          name: "Jose Bonifacio", phoneNumber: "21988899990", email: "jose@example.com",
          document: { type: "cpf", number: "72912053013" },
        },
      },
      fraudAnalysis: { cart: { items: [{ name: "Shoe <b>", quantity: 1, unitPrice: 150 }] } },
    });
    assert.equal(charge.status, "pending");
    const context = await browser.newContext({ locale: "en-US" });
    const page = await context.newPage();
    const [complaints, outside] = [[], []];
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    const { paymentUrl } = charge.transactionRequests[0].nupay;
    page.on("request", (request) => {
      const isIcon = new URL(request.url()).pathname === "/favicon.ico";
      if (request.url() !== paymentUrl && !request.url().startsWith(shopUrl) && !isIcon) outside.push(request.url());
    });

    await page.goto(paymentUrl);
    await page.getByRole("heading", { level: 1, name: "Payment (sandbox)" }).waitFor();
    const order = await page.locator("dl").innerText();
    for (const part of ["231", "1 × Shoe <b>", "1.50"]) assert.ok(order.includes(part), `${part}: ${order}`);
    if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/${decision}.png` });
    // With the keyboard alone.
    await page.getByRole("button", { name: button }).focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(`${shopUrl}${back}`);
    const after = await told(charge.id);
    // Whoever goes back to the page cannot decide again.
    const again = await context.newPage();
    await again.goto(paymentUrl);
    await again.getByRole("alert").waitFor();
    assert.equal(await again.getByRole("button").count(), 0);
    console.log(JSON.stringify({ decision, charge: after, complaints, outside }));
    await context.close();
  }
} finally {
  await browser.close();
  shop.close();
}
