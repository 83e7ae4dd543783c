// A seller answers the review of its registration at its page, with the keyboard alone. Prints one line of JSON for each language;
// the test reads them.
import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8");
const { REGENTE_URL, REGENTE_CLIENT_ID, REGENTE_API_KEY, REGENTE_MERCHANT_ID, CHROMIUM, PICTURES } = process.env;

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

/** What becomes of a review once the simulator has judged the answer. */
async function judged(path) {
  for (let tries = 0; tries < 600; tries++) {
    const review = await call("GET", path);
    if (review.status === "approved") return review;
    await new Promise((passed) => setTimeout(passed, 100));
  }
  throw new Error("nobody judges the answer");
}

// A PNG file with one pixel.
const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64",
);
const TEXTS = {
  "pt-BR": { title: "Confirmação de cadastro", send: "Enviar", thanks: "Obrigado", phone: "Telefone" },
  "en-US": { title: "Confirm your registration", send: "Send", thanks: "Thank you", phone: "Phone" },
  "es-MX": { title: "Confirmación de registro", send: "Enviar", thanks: "Gracias", phone: "Teléfono" },
};

const address = {
  street: "Av Geraldo Cardoso", streetNumber: "205", zipCode: "25650011", country: "BR", state: "RJ",
  city: "Rio de Janeiro", district: "Leblon",
};
const seller = await call("POST", "/v1/sellers", {
  merchantId: REGENTE_MERCHANT_ID, mcc: 5651,
  owner: {
    name: "Rita Lima", email: "rita@example.com", phoneNumber: "21988899909", birthdate: "1995-01-27",
    document: { type: "cpf", number: "36243319067" }, address,
  },
  bankAccount: {
    holderName: "Rita Lima", holderDocument: "36243319067", bank: "077", branchNumber: "492", accountNumber: "4929",
    type: "conta_corrente",
  },
});

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
try {
  for (const [locale, texts] of Object.entries(TEXTS)) {
    const reviews = `/v1/sellers/${seller.id}/registration-reviews`;
    const review = await call("POST", reviews, {
      fields: ["owner.phoneNumber", "owner.birthdate", "owner.isBusinessRepresentative", "documents.SELFIE"],
    });
    // Without scripts, and as narrow as a phone.
    const context = await browser.newContext({
      locale, viewport: { width: 360, height: 740 }, javaScriptEnabled: false,
    });
    const page = await context.newPage();
    const [complaints, outside] = [[], []];
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("request", (request) => {
      const isIcon = new URL(request.url()).pathname === "/favicon.ico";
      if (request.url() !== review.answerLink && !isIcon) outside.push(request.url());
    });
    const keep = async (name) => {
      if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}-${locale}.png`, fullPage: true });
    };
    if (PICTURES) fs.mkdirSync(PICTURES, { recursive: true });

    await page.goto(review.answerLink);
    await page.getByRole("heading", { level: 1, name: texts.title }).waitFor();
    await keep("asked");
    for (const input of await page.locator("input:not([type=checkbox]), select").all()) {
      assert.equal(await input.inputValue(), "", "nothing is filled in");
    }
    await page.getByLabel(texts.phone).focus();
    await page.keyboard.type("21977777777");
    await page.keyboard.press("Tab");
    await page.locator('[name="owner.birthdate"]').fill("1990-02-28");
    await page.locator('[name="owner.isBusinessRepresentative"]').focus();
    await page.keyboard.press("ArrowDown");
    await page.locator('[name="documents.SELFIE"]').setInputFiles({
      name: "me.png", mimeType: "image/png", buffer: picture,
    });
    await page.locator("#declaration").focus();
    await page.keyboard.press("Space");
    await keep("filled");
    await page.getByRole("button", { name: texts.send }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("status").filter({ hasText: texts.thanks }).waitFor();
    await keep("thanks");
    await context.close();

    const after = await judged(`${reviews}/${review.id}`);
    const { owner } = await call("GET", `/v1/sellers/${seller.id}`);
    // axe needs scripts, which the page's policy keeps to itself: it looks at a copy of the page.
    const looking = await browser.newContext({ locale, bypassCSP: true });
    const copy = await looking.newPage();
    const another = await call("POST", reviews, { fields: ["owner.phoneNumber"] });
    await copy.goto(another.answerLink);
    await copy.evaluate(axe);
    const { violations } = await copy.evaluate(() => globalThis.axe.run(document, { iframes: false }));
    const serious = violations.filter(({ impact }) => ["serious", "critical"].includes(impact)).map(({ id }) => id);
    await looking.close();
    console.log(JSON.stringify({
      locale, status: after.status, phone: owner.phoneNumber, birthdate: owner.birthdate, complaints, outside, serious,
    }));
  }
} finally {
  await browser.close();
}
