// What the stories in a browser share: a shop on an origin of its own, calls to Regente, and a browser.
import assert from "node:assert/strict";
import http from "node:http";
import { chromium } from "playwright-core";

export const { REGENTE_URL, REGENTE_CLIENT_ID, REGENTE_API_KEY, REGENTE_MERCHANT_ID, CHROMIUM } = process.env;

/** The card that the simulator approves, as a buyer types it. */
export const CARD = { number: "4916745120294124", holder: "JOSE DAS NEVES", expiry: "1230", cvv: "560" };
export const CONTAINERS = ["card-number", "card-holder-name", "card-expiration-date", "card-cvv"];

/** Calls the API with the secret key, or another one. */
export async function call(method, path, body, key = REGENTE_API_KEY) {
  const answer = await fetch(`${REGENTE_URL}${path}`, {
    method,
    headers: { "X-Client-Id": REGENTE_CLIENT_ID, "X-Api-Key": key, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  const told = await answer.json();
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${JSON.stringify(told)}`);
  return told;
}

/** A shop with these pages: HTML, or `{ type, text }`, by path. What is posted is told back as text; `asked` is every address. */
export async function openShop(pages, headers = {}) {
  const asked = [];
  const server = http.createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://shop");
    asked.push(request.url);
    if (pathname === "/favicon.ico") return response.writeHead(204).end();
    if (request.method === "POST") {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      response.writeHead(200, { "Content-Type": "text/plain" });
      return response.end(Buffer.concat(chunks));
    }
    const page = pages[pathname];
    const { type = "text/html; charset=utf-8", text = page } = typeof page === "object" ? page : {};
    response.writeHead(page ? 200 : 404, { "Content-Type": type, ...headers });
    return response.end(text ?? "nothing here");
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { url: `http://127.0.0.1:${server.address().port}`, asked, close: () => server.close() };
}

export function page(title, body, language = "en") {
  return `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><title>${title}</title>
    <link rel="icon" href="data:,"></head><body>${body}</body></html>`;
}

/** The empty places of the four fields, with labels. */
export const PLACES = CONTAINERS.map((id) =>
  `<label for="${id}">${id}</label><div id="${id}" style="width:300px;height:32px;border:1px solid #777"></div>`).join("");

export function launch(...args) {
  return chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", ...args] });
}

/** The input in the frame of a field. */
export const fieldIn = (page, container) => page.frameLocator(`#${container} iframe`).getByRole("textbox");

/** Types a card as a buyer does, key by key. */
export async function typeCard(page, { number, holder, expiry, cvv } = CARD) {
  for (const [container, text] of [
    ["card-number", number], ["card-holder-name", holder], ["card-expiration-date", expiry], ["card-cvv", cvv],
  ]) {
    const field = fieldIn(page, container);
    await field.click();
    await page.keyboard.type(text);
  }
}

/** Whether a text has the number of a card in it, or its code in a member that could be one. */
export function hasCard(text, { number, cvv } = CARD) {
  const digits = text.replace(/\D/g, "");
  return digits.includes(number) || digits.includes(number.slice(4, 12)) || text.includes(`"${cvv}"`);
}

/** Tries until what is asserted holds: messages between frames arrive a little later. */
export async function soon(assertions) {
  for (const end = Date.now() + 30_000; ; ) {
    try {
      return await assertions();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((passed) => setTimeout(passed, 20));
    }
  }
}

export const tell = (story, facts = {}) => console.log(JSON.stringify({ story, ...facts }));
