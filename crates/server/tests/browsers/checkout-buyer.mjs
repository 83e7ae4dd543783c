// What the stories of the checkout share: a service that one of them stops, its account, and buyers in a browser. Pictures of each
// step are in the folder PICTURES.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const { BINARY, DATA, PORT, CHROMIUM, PICTURES } = process.env;
export const url = `http://127.0.0.1:${PORT}`;
const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8");
export const sleep = (milliseconds) => new Promise((passed) => setTimeout(passed, milliseconds));
export const APPROVED = ["4916745120294124", "560"];
export const DECLINED = ["4916878170842862", "650"];
export const WRONG_CODE = ["4716866286004545", "965"];
const TAKEN_AWAY = ["4485406132091427", "170"];
export const CHALLENGED = ["4000000000002503", "120"];
const PAYER = { name: "Ana Souza", email: "ana@example.com", document: "729.120.530-13", phone: "(21) 98889-9909" };

/** The service. */
export const service = {
  process: null,
  async start() {
    const listen = ["--listen", `127.0.0.1:${PORT}`, "--data-dir", DATA];
    // The log stands beside the data, where the test looks for cards; what is printed names one as an example.
    const log = fs.openSync(`${DATA}.log`, "a");
    this.process = spawn(BINARY, ["dev", ...listen], { stdio: ["ignore", "ignore", log] });
    for (let tries = 0; tries < 300; tries++) {
      if (await fetch(`${url}/health/ready`).then(({ ok }) => ok, () => false)) return;
      await sleep(50);
    }
    throw new Error("the service does not start");
  },
  async kill() {
    const ended = new Promise((exit) => this.process.once("exit", exit));
    this.process.kill("SIGKILL");
    await ended;
  },
};
fs.mkdirSync(PICTURES, { recursive: true });
await service.start();
const account = Object.fromEntries(
  fs.readFileSync(`${DATA}/dev.env`, "utf8").trim().split("\n")
    .map((line) => line.replace(/^export /, "").split(/=(.*)/s).slice(0, 2)),
);

/** Calls the API with the secret key. */
export async function call(method, path, body) {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: {
      "X-Client-Id": account.REGENTE_CLIENT_ID, "X-Api-Key": account.REGENTE_API_KEY, "Content-Type": "application/json",
    },
    body: body && JSON.stringify(body),
  });
  const text = await answer.text();
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
  return text ? JSON.parse(text) : null;
}

export const METHODS = [
  { paymentType: "credit", installments: 3 }, { paymentType: "pix", expiresIn: 3600 },
  { paymentType: "boleto", expiresDate: "2030-12-31" },
];

/** A merchant with a logo, which this page draws, and colours of its own. */
export async function brandedMerchant(page) {
  const { id } = await call("POST", "/v1/merchants", {
    mcc: "5941", name: "Trilha", merchantName: "Trilha Esportes",
    providers: [{ name: "Sandbox", priority: 1, credentials: { type: "SANDBOX", apiKey: "trilha" } }],
  });
  await page.setContent(`<svg id="logo" xmlns="http://www.w3.org/2000/svg" width="320" height="96" viewBox="0 0 320 96">
    <path d="M8 84 48 20l20 30 12-16 34 50z" fill="#0b6e4f"/><circle cx="92" cy="22" r="10" fill="#f2c14e"/>
    <text x="122" y="76" font-family="sans-serif" font-weight="700" font-size="56" fill="#0b6e4f">trilha</text></svg>`);
  const logo = await page.locator("#logo").screenshot({ omitBackground: true });
  const form = new FormData();
  form.append("logo", new Blob([logo], { type: "image/png" }), "logo.png");
  const colours = {
    mainColor: "#f2c14e", secondaryColor: "#0b6e4f", backgroundColor: "#fdf6e3", errorColor: "#ff6b6b", successColor: "#7bd389",
    attentionColor: "#ffd166",
  };
  for (const [name, colour] of Object.entries(colours)) form.append(name, colour);
  const answer = await fetch(`${url}/v1/settings`, {
    method: "POST", body: form,
    headers: { "X-Client-Id": account.REGENTE_CLIENT_ID, "X-Api-Key": account.REGENTE_API_KEY, "X-Merchant-Id": id },
  });
  assert.equal(answer.status, 201, await answer.text());
  return id;
}

export const order = (more = {}) =>
  call("POST", "/v1/sessions", {
    name: "Corrida de junho", orderId: "77", merchantId: account.REGENTE_MERCHANT_ID, amount: 123456, createLink: true,
    paymentMethods: METHODS,
    items: [
      { name: "Tênis de corrida </script>", description: "Azul, 42", unitPrice: 110000, quantity: 1 },
      { name: "Meia", unitPrice: 6728, quantity: 2 },
    ],
    ...more,
  });
/** A subscription whose first charge was refused for good. */
export async function unpaidSubscription() {
  const customer = await call("POST", "/v1/customers?force=true", {
    name: "Caio Reis", email: "caio@example.com", phoneNumber: "21988899991", document: { type: "cpf", number: "52998224725" },
  });
  const { tokenId } = await call("POST", "/v1/tokens", {
    cardNumber: TAKEN_AWAY[0], cardCvv: TAKEN_AWAY[1], cardHolderName: "CAIO REIS", cardExpirationDate: "12/2030",
  });
  const card = await call("POST", "/v1/cards", { tokenId });
  const { id } = await call("POST", "/v1/subscriptions", {
    name: "Clube de corrida", merchantId: account.REGENTE_MERCHANT_ID, customerId: customer.id,
    items: [{ name: "Plano", amount: 29900, quantity: 1 }], recurrence: { interval: "monthly" },
    paymentMethod: { type: "credit", card: { cardId: card.id } },
  });
  for (let tries = 0; tries < 300; tries++) {
    const subscription = await call("GET", `/v1/subscriptions/${id}`);
    if (subscription.status === "unpaid") return subscription;
    await sleep(50);
  }
  throw new Error("the subscription does not become unpaid");
}
export const chargesOf = async ({ id }) => (await call("GET", `/v1/charges?sessionId=${id}`)).items;
export const paidBy = async (session) => (await chargesOf(session)).filter(({ status }) => status === "authorized").length;

export const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
export const DESKTOP = { locale: "en-US", viewport: { width: 1280, height: 900 } };
export const PHONE = { locale: "pt-BR", viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

/** A buyer at a page: his browser, what it complains of, and his pictures. */
export async function buyer(name, options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const told = { story: name, complaints: [], serious: [], outside: [], pictures: 0 };
  const watch = (one) => {
    one.on("console", (message) => {
      const isExpected = /Failed to load resource/.test(message.text());
      if (message.type() === "error" && !isExpected) told.complaints.push(message.text());
    });
    one.on("pageerror", (error) => told.complaints.push(String(error.stack)));
    one.on("request", (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(url)) told.outside.push(request.url());
    });
  };
  watch(page);
  return {
    context, page, told, watch,
    /** Takes a picture, and asks axe what is wrong with the step. */
    async step(what, of = page) {
      told.pictures += 1;
      await of.screenshot({ path: `${PICTURES}/${name}-${told.pictures}-${what}.png`, fullPage: true, animations: "disabled" });
      await of.evaluate(axe);
      const { violations } = await of.evaluate(() => globalThis.axe.run(document, { iframes: false }));
      const bad = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      told.serious.push(...bad.map(({ id, nodes }) => `${what}: ${id} ${nodes.map(({ html }) => html).join(" ").slice(0, 300)}`));
    },
    async open(session, hash = "") {
      await page.goto(`${url}/pay/${session.id}${hash}`);
      await page.locator("html[data-ready]").waitFor();
    },
    async payer(of = page) {
      for (const [field, value] of Object.entries(PAYER)) await of.fill(`#${field}`, value);
    },
    async card([number, cvv], of = page) {
      const field = (container) => of.frameLocator(`#${container} iframe`).locator("input");
      await field("card-number").fill(number);
      await field("card-holder-name").fill("ANA SOUZA");
      await field("card-expiration-date").fill("12/30");
      await field("card-cvv").fill(cvv);
    },
    done: (of = page) => of.locator("#stage .sign.ok").waitFor(),
  };
}
