// A reader of the reference at /docs: searches, types their key, pastes the examples, comes by a link, and reads without scripts.
// Prints one line of JSON for each colour scheme, and one for a reader without scripts. With PICTURES it keeps pictures there.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import { REGENTE_API_KEY, REGENTE_CLIENT_ID, REGENTE_MERCHANT_ID, REGENTE_URL, launch } from "./shop.mjs";

const { PICTURES } = process.env;
const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8");
if (PICTURES) fs.mkdirSync(PICTURES, { recursive: true });

/** The example that is unfolded in an operation's section. */
const exampleOf = (page, id) => page.locator(`#${id} .examples [open] pre`);

async function read(page, keep) {
  await page.goto(`${REGENTE_URL}/docs`);
  await keep("start");
  await page.keyboard.press("/");
  await page.keyboard.type("post cardHolderName");
  const hits = await page.locator("#hits").innerText();
  assert.ok(await page.locator("#createToken").locator("..").isVisible(), "a field of its body is found");
  assert.equal(await page.locator("#listCharges").locator("..").isVisible(), false);
  await keep("hits");
  await page.locator("#query").fill("/v1/tokens");
  await page.keyboard.press("Enter");
  assert.match(await page.locator(":focus").innerText(), /POST \/v1\/tokens/);
  await page.keyboard.press("Enter");

  assert.match(await exampleOf(page, "createToken").innerText(), /X-Api-Key: \$REGENTE_API_KEY/);
  await page.locator("#query").fill("");
  await page.getByLabel("X-Client-Id").fill(REGENTE_CLIENT_ID);
  await page.getByLabel("X-Api-Key").fill(REGENTE_API_KEY);
  const curl = await exampleOf(page, "createToken").innerText();
  assert.ok(JSON.parse(execFileSync("sh", ["-c", curl], { encoding: "utf8" })).tokenId, curl);
  await page.locator("#createToken").getByText("Node.js").focus();
  await page.keyboard.press("Enter");
  const script = await exampleOf(page, "createToken").innerText();
  assert.match(execFileSync("node", ["--input-type=module", "-e", script], { encoding: "utf8" }), /^201 .*tokenId/);

  // A charge, by the sandbox's merchant.
  await page.getByLabel("merchantId").fill(REGENTE_MERCHANT_ID);
  await page.goto(`${REGENTE_URL}/docs#createCharge`);
  const charging = await exampleOf(page, "createCharge").innerText();
  assert.match(execFileSync("node", ["--input-type=module", "-e", charging], { encoding: "utf8" }), /^201 .*"authorized"/);
  await keep("operation");

  // The language is remembered, and the key as long as the tab is open; a link unfolds what it leads to.
  await page.goto(`${REGENTE_URL}/docs#listCharges`);
  await page.reload();
  const listing = await exampleOf(page, "listCharges").innerText();
  assert.ok(listing.includes("await fetch") && listing.includes(REGENTE_API_KEY), listing);
  assert.deepEqual(await page.evaluate(() => Object.keys(localStorage)), ["regente.docs.language"], "the key is not kept");
  await page.evaluate(() => (location.hash = "object-ErrorEnvelope"));
  await page.locator("#object-ErrorEnvelope").waitFor({ state: "visible" });
  await keep("object");
  return hits;
}

/** What axe finds in two operations, an event and an object with all that is folded in them. The whole page takes it too long. */
async function violations(page) {
  await page.evaluate(() => {
    const looked = ["createCharge", "listCharges", "onPing", "object-ErrorEnvelope"].map((id) => document.getElementById(id).parentElement);
    for (const entry of document.querySelectorAll(".entry")) if (!looked.includes(entry)) entry.remove();
    for (const fold of document.querySelectorAll("main details:not([name])")) fold.open = true;
  });
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { iframes: false }));
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`);
}

const browser = await launch();
try {
  for (const [colorScheme, width] of [["light", 1280], ["dark", 360]]) {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 } });
    context.setDefaultTimeout(30_000);
    const page = await context.newPage();
    const [complaints, asked] = [[], new Set()];
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => /^(data|blob):/.test(request.url()) || asked.add(request.url().split("#")[0]));
    const keep = (name) => PICTURES && page.screenshot({ path: `${PICTURES}/${name}-${colorScheme}-${width}.png` });
    const hits = await read(page, keep);
    const tooWide = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    const overflow = [await tooWide()];
    const found = await violations(page);
    overflow.push(await tooWide());
    const outside = [...asked].filter((url) => !url.startsWith(`${REGENTE_URL}/docs`));
    console.log(JSON.stringify({ story: colorScheme, hits, complaints, outside, violations: found, overflow }));
    await context.close();
  }

  const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(`${REGENTE_URL}/docs`);
  assert.equal(await page.locator("#query").isVisible(), false);
  await page.locator("#tag-charges summary", { hasText: "POST /v1/charges " }).first().click();
  await page.locator("#createCharge .examples").getByText("Python").click();
  assert.match(await exampleOf(page, "createCharge").innerText(), /requests\.post/);
  await page.getByRole("navigation").getByRole("link", { name: "Events" }).click();
  console.log(JSON.stringify({ story: "without scripts", address: page.url().replace(REGENTE_URL, "") }));
} finally {
  await browser.close();
}
