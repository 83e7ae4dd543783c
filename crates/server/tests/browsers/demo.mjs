// A newcomer at the demo shop of a running service: buys by Pix in three clicks, then by card, and watches the events arrive.
// Prints one line of JSON for each language. With PICTURE it writes the picture of the README there.
import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const { REGENTE_URL, CHROMIUM, PICTURE } = process.env;
const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8");
const WORDS = {
  "en-US": { buy: "Buy: Enamel mug", simulate: "Pay (simulator)", card: "Card", paid: "Payment approved" },
  "pt-BR": { buy: "Comprar: Caneca esmaltada", simulate: "Pagar (simulador)", card: "Cartão", paid: "Pagamento aprovado" },
};

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
try {
  for (const [earlier, [locale, words]] of Object.entries(WORDS).entries()) {
    const context = await browser.newContext({ locale, viewport: { width: 1100, height: 760 } });
    context.setDefaultTimeout(30_000);
    const [complaints, outside] = [[], []];
    context.on("console", (message) => {
      const isExpected = /Failed to load resource/.test(message.text());
      if (message.type() === "error" && !isExpected) complaints.push(message.text());
    });
    context.on("request", (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(REGENTE_URL)) outside.push(request.url());
    });
    const shop = await context.newPage();
    await shop.goto(`${REGENTE_URL}/demo`);
    const events = async () => (await shop.locator("#events b").allInnerTexts()).reverse();
    const told = (event, count) => shop.locator("#events b", { hasText: event }).nth(count - 1).waitFor();
    const buy = async () => {
      const opened = context.waitForEvent("page");
      await shop.getByRole("button", { name: words.buy }).click();
      const page = await opened;
      await page.locator("html[data-ready]").waitFor();
      assert.ok(!(await page.locator("#name").isVisible()), "the page has read who buys, and asks for no details");
      return page;
    };
    const approved = (page) => page.getByRole("heading", { name: words.paid }).waitFor();
    // What was paid in another language is shown, too.
    const paidBefore = 2 * earlier;
    if (paidBefore) await told("transaction.authorized", paidBefore);

    const byPix = await buy();
    await byPix.click("#pay");
    await byPix.locator("[data-part=clock]").waitFor();
    await shop.getByRole("button", { name: words.simulate }).click();
    await approved(byPix);
    await told("transaction.authorized", paidBefore + 1);
    assert.equal(await shop.getByRole("button", { name: words.simulate }).count(), 0, "nothing waits");

    const byCard = await buy();
    await byCard.getByRole("tab", { name: words.card }).click();
    const field = (container) => byCard.frameLocator(`#${container} iframe`).locator("input");
    const card = { number: "4916 7451 2029 4124", "holder-name": "ANA SOUZA", "expiration-date": "12/30", cvv: "560" };
    for (const [name, value] of Object.entries(card)) await field(`card-${name}`).fill(value);
    await byCard.click("#pay");
    await approved(byCard);
    await told("transaction.authorized", paidBefore + 2);
    const shown = await events();
    // Beside the goods on a desktop; on a phone what happens is not hidden below the test cards.
    const tops = async () => {
      const parts = ["section:has(.goods)", ".events", "section:has(table)"].map((part) => shop.locator(part).boundingBox());
      return (await Promise.all(parts)).map(({ y }) => y);
    };
    const [goods, beside] = await tops();
    assert.equal(goods, beside);
    await shop.setViewportSize({ width: 390, height: 844 });
    const onPhone = await tops();
    assert.deepEqual(onPhone, [...onPhone].sort((one, other) => one - other));
    await shop.setViewportSize({ width: 1100, height: 760 });
    await shop.evaluate(axe);
    const { violations } = await shop.evaluate(() => globalThis.axe.run(document, { iframes: false }));
    const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id, nodes }) => `${id}: ${nodes[0].html}`);
    if (PICTURE && locale === "en-US") {
      await byCard.close();
      await byPix.close();
      await shop.locator("#events details").first().click();
      await shop.screenshot({ path: PICTURE, animations: "disabled" });
    }
    if (locale === "pt-BR") {
      // The last of the languages: the days of the others would be later, too.
      await shop.click("#day");
      await shop.locator("#today", { hasText: /^\d+ de \p{L}+ de \d{4}/u }).waitFor();
    }
    console.log(JSON.stringify({ locale, events: shown, complaints, outside, serious }));
    await context.close();
  }
} finally {
  await browser.close();
}
