// Buyers at the hosted checkout of a running service, in a real browser. Prints one line of JSON for each story.
import assert from "node:assert/strict";
import fs from "node:fs";
import {
  APPROVED, CHALLENGED, DECLINED, DESKTOP, METHODS, PHONE, WRONG_CODE, brandedMerchant, browser, buyer, call, chargesOf, order, paidBy,
  service, sleep, unpaidSubscription, url,
} from "./checkout-buyer.mjs";

const { ONLY, PICTURES } = process.env;

const stories = {
  async "card-phone"(name) {
    const ana = await buyer(name, PHONE);
    const { page } = ana;
    const session = await order();
    await ana.open(session);
    await page.locator("#card-cvv:not(.skeleton)").waitFor();
    await ana.step("form");
    await page.click("#pay");
    await page.locator("#notice").getByText("Confira os campos marcados.").waitFor();
    assert.equal(await page.locator(".wrong").count(), 8);
    assert.equal(await page.evaluate(() => document.activeElement.id), "name");
    await ana.step("errors");
    await ana.payer();
    await ana.card(APPROVED);
    await page.selectOption("#installments", "3");
    // Twice: the second one must do nothing.
    await page.dblclick("#pay");
    await ana.done();
    await page.getByRole("heading", { name: "Pagamento aprovado" }).waitFor();
    await ana.step("done");
    const [charge, ...others] = await chargesOf(session);
    assert.equal(others.length, 0);
    assert.equal(charge.paymentMethod.installments, 3);
    const kept = await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie]));
    assert.ok(!kept.includes("4916745120294124") && !kept.includes("560\""), kept);
    await page.reload();
    await page.getByRole("heading", { name: "Este pedido já foi pago" }).waitFor();
    await ana.step("paid");
    return ana;
  },
  // What is typed is written as people write it, and may be pasted and deleted; what is sent has no marks.
  async "typing-phone"(name) {
    const ana = await buyer(name, { ...PHONE, colorScheme: "dark" });
    const { page } = ana;
    const session = await order();
    await ana.open(session);
    await page.locator("#card-cvv:not(.skeleton)").waitFor();
    const { keyboard } = page;
    const paste = (input, text) => input.evaluate((input, text) => {
      input.select();
      document.execCommand("insertText", false, text);
    }, text);
    const is = async (input, shown, caret = shown.length) => {
      const found = await input.evaluate(({ value, selectionStart }) => [value, selectionStart]);
      assert.deepEqual(found, [shown, caret]);
    };
    const caretAt = (input, place) => input.evaluate((input, place) => input.setSelectionRange(place, place), place);

    const document = page.locator("#document");
    await document.focus();
    await keyboard.type("7291205301");
    await is(document, "729.120.530-1");
    await keyboard.type("3");
    await is(document, "729.120.530-13");
    for (let times = 0; times < 3; times++) await keyboard.press("Backspace");
    await is(document, "729.120.53");
    // In the midst: a digit is put in, and one before a mark and one after it are taken out.
    await caretAt(document, 3);
    await keyboard.type("9");
    await is(document, "729.912.053", 5);
    await caretAt(document, 4);
    await keyboard.press("Backspace");
    await is(document, "729.912.053", 3);
    await keyboard.press("Backspace");
    await is(document, "729.120.53", 2);
    await paste(document, "11.222.333/0001-81");
    await is(document, "11.222.333/0001-81");
    await paste(document, "12abc34501de35");
    await is(document, "12.ABC.345/01DE-35");
    await paste(document, "72912053013");
    await caretAt(document, 3);
    await keyboard.press("Delete");
    await is(document, "729.120.530-13", 4);
    await keyboard.press("Delete");
    await is(document, "729.205.301-3", 4);
    await paste(document, "729.120.530-13");

    const phone = page.locator("#phone");
    await phone.focus();
    await keyboard.type("213333444");
    await is(phone, "(21) 3333-444");
    await paste(phone, "21988899909");
    await is(phone, "(21) 98889-9909");
    for (let times = 0; times < 9; times++) await keyboard.press("Backspace");
    await is(phone, "21");
    await paste(phone, "+1 415 555 0100");
    await is(phone, "+1 415 555 0100");
    await paste(phone, "(21) 98889-9909");
    await page.fill("#name", "Ana Souza");
    await page.fill("#email", "ana@example.com");

    const field = (container) => page.frameLocator(`#${container} iframe`).locator("input");
    const [number, expiry] = [field("card-number"), field("card-expiration-date")];
    assert.equal(await expiry.getAttribute("placeholder"), "MM/AA");
    const brand = page.locator("#brand");
    await brand.locator("svg").waitFor();
    await number.pressSequentially("5214");
    await brand.getByText("Mastercard").waitFor();
    assert.ok(!(await brand.locator("svg").isVisible()), "the name stands where the sign of a card was");
    await number.fill("3714");
    await brand.getByText("American Express").waitFor();
    await ana.step("brand");
    await number.fill("");
    await brand.locator("svg").waitFor();
    await number.fill(APPROVED[0]);
    await brand.getByText("Visa").waitFor();
    await caretAt(number, 4);
    await number.press("Delete");
    await is(number, "4916 7451 2029 4124", 5);
    await expiry.pressSequentially("12");
    await is(expiry, "12/");
    await expiry.press("Backspace");
    await is(expiry, "12");
    await expiry.pressSequentially("30");
    await is(expiry, "12/30");
    await field("card-holder-name").fill("ANA SOUZA");
    await field("card-cvv").fill(APPROVED[1]);
    await ana.step("typed");
    const sent = page.waitForRequest("**/charge");
    await page.click("#pay");
    const { customer } = (await sent).postDataJSON().fraudAnalysis;
    assert.deepEqual([customer.phone, customer.identity, customer.identityType], ["21988899909", "72912053013", "CPF"]);
    await ana.done();
    return ana;
  },
  // The page of a merchant with a logo and colours of its own, which asks whether a person pays.
  async "branded-phone"(name) {
    const ana = await buyer(name, PHONE);
    const { page } = ana;
    const merchantId = await brandedMerchant(page);
    const session = await order({ merchantId, captchaEnabled: true });
    await ana.open(session);
    await page.waitForFunction(() => document.querySelector(".logo").naturalWidth > 0);
    await page.locator("#card-cvv:not(.skeleton)").waitFor();
    await ana.step("light");
    await page.emulateMedia({ colorScheme: "dark" });
    await ana.step("dark");
    await ana.payer();
    await ana.card(DECLINED);
    await page.locator("#pay").press("Enter");
    await page.locator("#human-error").getByText("Marque esta caixa para pagar.").waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.id), "human");
    await ana.step("asked");
    await page.keyboard.press("Space");
    await page.locator("#human-state[role=status]").getByText("Verificado.").waitFor();
    await ana.step("checked");
    await page.click("#pay");
    await page.locator("#notice").getByText("O pagamento não foi aprovado.").waitFor();
    // The next payment proves it anew, and asks for nothing.
    await ana.card(APPROVED);
    await page.emulateMedia({ colorScheme: "light" });
    await page.click("#pay");
    await ana.done();
    await ana.step("done");
    assert.deepEqual((await chargesOf(session)).map(({ status }) => status).sort(), ["authorized", "failed"]);
    return ana;
  },
  async "declined-desktop"(name) {
    const ana = await buyer(name, DESKTOP);
    const { page } = ana;
    const session = await order();
    await ana.open(session);
    await ana.payer();
    await ana.card(DECLINED);
    await page.click("#pay");
    await page.locator("#notice").getByText("The payment was not approved.").waitFor();
    await ana.step("declined");
    await ana.card(APPROVED);
    await page.locator("#pay").press("Enter");
    await ana.done();
    await ana.step("done");
    const statuses = (await chargesOf(session)).map(({ status }) => status);
    assert.deepEqual(statuses.sort(), ["authorized", "failed"]);
    return ana;
  },
  async "challenge-phone"(name) {
    const ana = await buyer(name, PHONE);
    const { page } = ana;
    const session = await order({ paymentMethods: [{ paymentType: "credit", installments: 1, threeDS: { enabled: true } }] });
    await ana.open(session);
    await ana.payer();
    await ana.card(CHALLENGED);
    await page.click("#pay");
    const bank = page.frameLocator("iframe[name=challenge]");
    await bank.getByRole("button", { name: "Aprovar" }).waitFor();
    await ana.step("challenge");
    // A reload asks again, for the same charge.
    await page.reload();
    await bank.getByRole("button", { name: "Aprovar" }).click();
    await ana.done();
    assert.equal(await paidBy(session), 1);
    assert.equal((await chargesOf(session)).length, 1);
    return ana;
  },
  async "saved-card-desktop"(name) {
    const ana = await buyer(name, { ...DESKTOP, colorScheme: "dark" });
    const { page } = ana;
    const { id } = await call("POST", "/v1/customers", {
      name: "Bia Lima", email: "bia@example.com", phoneNumber: "21988899990", document: { type: "cpf", number: "97055503019" },
    });
    const { tokenId } = await call("POST", "/v1/tokens", {
      cardNumber: APPROVED[0], cardCvv: APPROVED[1], cardHolderName: "BIA LIMA", cardExpirationDate: "12/2030",
    });
    const card = await call("POST", "/v1/cards", { tokenId });
    await call("POST", `/v1/customers/${id}/cards`, { cardId: card.id });
    const session = await order();
    await ana.open(session, `#customerId=${id}`);
    await page.getByText("Visa ending in 4124").waitFor();
    // Without its code the field is marked, although the focus is led into it, until the code is there.
    await page.locator("#card-cvv:not(.skeleton)").waitFor();
    await page.click("#pay");
    await page.locator("#notice").getByText("Check the fields that are marked.").waitFor();
    await page.locator("#card-cvv.focused").waitFor();
    const error = page.locator("#card-cvv-error");
    assert.equal(await error.innerText(), "Fill in this field.");
    assert.equal(await page.locator("#card-cvv").getAttribute("aria-describedby"), "card-cvv-error");
    await ana.step("empty");
    const code = page.frameLocator("#card-cvv iframe").locator("input");
    await code.pressSequentially("5");
    assert.equal(await error.count(), 1, "unfinished is not right");
    await code.fill("560");
    await error.waitFor({ state: "detached" });
    assert.equal(await page.locator("#card-cvv").getAttribute("aria-describedby"), null);
    await ana.step("saved");
    await page.click("#pay");
    await ana.done();
    const [charge] = await chargesOf(session);
    assert.equal(charge.paymentSource.cardId, card.id);
    assert.equal(charge.customerId, id);
    // Another card, which is saved.
    const next = await order();
    await ana.open(next, `#customerId=${id}`);
    await page.getByText("Another card").click();
    await ana.card(["5214254988499590", "220"]);
    await page.check("#save-card");
    await ana.step("save");
    await page.click("#pay");
    await ana.done();
    for (let tries = 0; (await call("GET", `/v1/customers/${id}/cards`)).length < 2 && tries < 100; tries++) await sleep(50);
    assert.equal((await call("GET", `/v1/customers/${id}/cards`)).length, 2);
    return ana;
  },
  async "pix-phone"(name) {
    const ana = await buyer(name, { ...PHONE, colorScheme: "dark" });
    const { page } = ana;
    const session = await order();
    await ana.open(session);
    await ana.payer();
    await page.getByRole("tab", { name: "Pix" }).focus();
    await page.getByRole("tab", { name: "Cartão" }).press("ArrowRight");
    const tabs = await page.getByRole("tab").evaluateAll((tabs) => tabs.map((tab) => ({
      name: tab.textContent, ground: getComputedStyle(tab).backgroundColor, icons: tab.querySelectorAll("svg[aria-hidden]").length,
    })));
    assert.deepEqual(tabs.map(({ name, icons }) => [name, icons]), [["Cartão", 1], ["Pix", 1], ["Boleto", 1]]);
    const [card, pix, boleto] = tabs.map(({ ground }) => ground.match(/\d+/g).reduce((sum, part) => sum + Number(part), 0));
    assert.equal(card, boleto);
    assert.ok(pix - card > 180, `the chosen tab is plain in the dark: ${pix} beside ${card}`);
    await ana.step("tabs");
    await page.getByRole("button", { name: "Gerar código Pix" }).click();
    await page.locator("[data-part=clock]").waitFor();
    await page.waitForFunction(() => document.querySelector("[data-part=picture]").naturalWidth > 0);
    await ana.step("code");
    await page.reload();
    await page.locator("[data-part=clock]").waitFor();
    const [charge, ...others] = await chargesOf(session);
    assert.equal(others.length, 0);
    assert.equal(await page.inputValue("#code"), charge.paymentMethod.qrCodeData);
    await call("POST", `/v1/charges/${charge.id}`, { status: "authorized" });
    await ana.done();
    await ana.step("done");
    return ana;
  },
  async "pix-then-card"(name) {
    const ana = await buyer(name, { ...DESKTOP, locale: "es-ES" });
    const { page } = ana;
    const session = await order();
    await ana.open(session);
    await ana.payer();
    await page.getByRole("tab", { name: "Pix" }).click();
    await page.click("#pay");
    await page.locator("[data-part=clock]").waitFor();
    await ana.step("code");
    await page.getByRole("button", { name: "Pagar de otra forma" }).click();
    await page.getByRole("tab", { name: "Tarjeta" }).click();
    await ana.card(APPROVED);
    await page.click("#pay");
    await ana.done();
    assert.equal(await paidBy(session), 1);
    return ana;
  },
  async "boleto-desktop"(name) {
    const ana = await buyer(name, DESKTOP);
    const { page } = ana;
    const session = await order();
    await ana.open(session);
    await ana.payer();
    await page.getByRole("tab", { name: "Boleto" }).click();
    for (const [field, value] of Object.entries({
      zipCode: "20040-030", street: "Rua do Ouvidor", streetNumber: "50", district: "Centro", city: "Rio de Janeiro", state: "rj",
    })) await page.fill(`#${field}`, value);
    await ana.step("form");
    await page.click("#pay");
    const link = page.getByRole("link", { name: "Download boleto (PDF)" });
    await link.waitFor();
    await ana.step("slip");
    const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
    const file = fs.readFileSync(await download.path());
    assert.equal(file.subarray(0, 5).toString(), "%PDF-");
    assert.match(await page.inputValue("#code"), /^\d{5}\.\d{5} \d{5}\.\d{6} \d{5}\.\d{6} \d \d{14}$/);
    assert.match(await page.getAttribute("#code", "data-copied"), /^\d{47}$/);
    assert.equal(await page.locator("#stage [data-part=due]").textContent(), "December 31, 2030");
    return ana;
  },
  async "wallets-desktop"(name) {
    const ana = await buyer(name, DESKTOP);
    const { page } = ana;
    const session = await order({ paymentMethods: [{ paymentType: "nupay" }, { paymentType: "drip" }, { paymentType: "click_to_pay", installments: 1 }] });
    await ana.open(session);
    await ana.payer();
    await ana.step("form");
    await page.click("#pay");
    // The payer pays at the page of their wallet, and comes back.
    await page.waitForURL(/sandbox\/payments/);
    await page.getByRole("button", { name: "Pay" }).click();
    await page.waitForURL(/\/pay\//);
    await page.getByRole("heading", { name: /Payment approved|already paid/ }).waitFor();
    await ana.step("back");
    const simulated = await order({ paymentMethods: [{ paymentType: "click_to_pay", installments: 1 }] });
    await ana.open(simulated);
    // Where nothing is to be chosen there is no row of tabs.
    await page.getByRole("heading", { name: "Click to Pay" }).waitFor();
    assert.equal(await page.locator("[role=tablist], [role=tab], [role=tabpanel]").count(), 0);
    await page.getByRole("group", { name: "Click to Pay" }).waitFor();
    await ana.step("only");
    await ana.payer();
    await page.click("#pay");
    await ana.done();
    assert.equal(await paidBy(simulated), 1);
    return ana;
  },
  async "ended-desktop"(name) {
    const ana = await buyer(name, DESKTOP);
    const { page } = ana;
    const [canceled, disabled, expired] = [await order(), await order(), await order()];
    const dueAt = Date.now() + 1_000;
    await call("PATCH", `/v1/sessions/${expired.id}`, { isActive: true, dueDate: new Date(dueAt).toISOString() });
    await ana.open(canceled);
    await ana.payer();
    await page.getByRole("tab", { name: "Pix" }).click();
    await page.click("#pay");
    await page.locator("[data-part=clock]").waitFor();
    await call("POST", `/v1/sessions/${canceled.id}/cancel`);
    await page.getByRole("heading", { name: "This order was cancelled" }).waitFor();
    await ana.step("canceled");
    await call("PATCH", `/v1/sessions/${disabled.id}`, { isActive: false });
    await page.goto(`${url}/pay/${disabled.id}`);
    await page.getByRole("heading", { name: "This link is not available" }).waitFor();
    await ana.step("disabled");
    await sleep(Math.max(0, dueAt - Date.now()));
    await page.goto(`${url}/pay/${expired.id}`);
    await page.getByRole("heading", { name: "This link has expired" }).waitFor();
    await ana.step("expired");
    await page.goto(`${url}/pay/00000000-0000-4000-8000-000000000000`);
    await page.getByRole("heading", { name: "Page not found" }).waitFor();
    await ana.step("unknown");
    return ana;
  },
  async "two-tabs"(name) {
    const ana = await buyer(name, DESKTOP);
    const session = await order();
    const other = await ana.context.newPage();
    ana.watch(other);
    await ana.open(session);
    await other.goto(`${url}/pay/${session.id}`);
    for (const page of [ana.page, other]) {
      await ana.payer(page);
      await ana.card(APPROVED, page);
    }
    await Promise.all([ana.page, other].map((page) => page.evaluate(() => document.getElementById("pay").click())));
    for (const page of [ana.page, other]) await page.getByRole("heading", { name: /Payment approved|This order is already paid/ }).waitFor();
    assert.equal(await paidBy(session), 1);
    return ana;
  },
  async "reload-while-paying"(name) {
    const ana = await buyer(name, DESKTOP);
    const { page } = ana;
    const session = await order();
    await ana.open(session);
    await ana.payer();
    await ana.card(APPROVED);
    // The service is asked, and its answer never comes.
    const asked = new Promise((reached) => {
      page.route("**/charge", async (route) => {
        await route.fetch();
        reached();
      });
    });
    await page.click("#pay");
    await asked;
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.goto(`${url}/pay/${session.id}`);
    await page.getByRole("heading", { name: /Payment approved|This order is already paid/ }).waitFor();
    assert.equal((await chargesOf(session)).length, 1);
    return ana;
  },
  // A code that can still be paid is shown, and everybody else is told that the link is switched off.
  async "switched-off-with-instructions"(name) {
    const ana = await buyer(name, DESKTOP);
    const { page } = ana;
    const session = await order();
    await ana.open(session);
    await ana.payer();
    await page.getByRole("tab", { name: "Pix" }).click();
    await page.click("#pay");
    await page.locator("[data-part=clock]").waitFor();
    await call("PATCH", `/v1/sessions/${session.id}`, { isActive: false });
    await page.reload();
    await page.locator("[data-part=clock]").waitFor();
    const other = await ana.context.newPage();
    ana.watch(other);
    await other.goto(`${url}/pay/${session.id}`);
    await other.getByRole("heading", { name: "This link is not available" }).waitFor();
    const [charge] = await chargesOf(session);
    await call("POST", `/v1/charges/${charge.id}`, { status: "authorized" });
    await ana.done();
    return ana;
  },
  // A subscription whose card is refused for good gets another one, and is paid.
  async "another-card-phone"(name) {
    const ana = await buyer(name, PHONE);
    const { page } = ana;
    const subscription = await unpaidSubscription();
    const session = await call("POST", `/v1/subscriptions/${subscription.id}/card-link`, { captchaEnabled: true });
    await ana.open(session);
    await page.locator("#outstanding").getByText("R$ 299,00").waitFor();
    await page.locator("#card-cvv:not(.skeleton)").waitFor();
    await ana.step("light");
    await page.emulateMedia({ colorScheme: "dark" });
    await ana.step("dark");
    await page.click("#pay");
    await page.locator("#notice").getByText("Confira os campos marcados.").waitFor();
    assert.equal(await page.locator(".wrong").count(), 5);
    await ana.step("errors");
    await ana.card(WRONG_CODE);
    await page.check("#human");
    await page.locator("#human-state[role=status]").getByText("Verificado.").waitFor();
    await page.click("#pay");
    await page.locator("#notice").getByText("O banco recusou este cartão").waitFor();
    await ana.card(APPROVED);
    await page.dblclick("#pay");
    await page.getByRole("heading", { name: "O cartão foi salvo e o pagamento foi aprovado" }).waitFor();
    await ana.step("paid");
    const { status, lastCycle } = await call("GET", `/v1/subscriptions/${subscription.id}`);
    assert.deepEqual([status, lastCycle.status], ["active", "authorized"]);
    const kept = await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie]));
    assert.ok(!kept.includes("4916745120294124"), kept);
    await page.reload();
    await page.getByRole("heading", { name: "O cartão foi salvo" }).waitFor();
    await ana.step("used");
    return ana;
  },
  async "lost-answers"(name) {
    const ana = await buyer(name, DESKTOP);
    const { page } = ana;
    const session = await order({ maxPayments: -1, paymentMethods: METHODS.slice(0, 1) });
    await ana.open(session);
    await ana.payer();
    await ana.card(APPROVED);
    let lost = 0;
    await page.route("**/charge", async (route) => {
      if (lost++) return route.continue();
      await route.fetch();
      return route.abort("connectionreset");
    });
    await page.click("#pay");
    await ana.done();
    assert.equal(lost, 2);
    assert.equal((await chargesOf(session)).length, 1);
    // What was paid is shown again, since the link can be paid again.
    await page.reload();
    await ana.done();
    await page.getByRole("button", { name: "Make another payment" }).click();
    await page.locator("#checkout").waitFor();
    return ana;
  },
};

async function restart(name) {
  const ana = await buyer(name, PHONE);
  const { page } = ana;
  const [byPix, byCard] = [await order(), await order()];
  await ana.open(byPix);
  await ana.payer();
  await page.getByRole("tab", { name: "Pix" }).click();
  await page.click("#pay");
  await page.locator("[data-part=clock]").waitFor();
  const card = await ana.context.newPage();
  ana.watch(card);
  await card.goto(`${url}/pay/${byCard.id}`);
  await ana.payer(card);
  await ana.card(APPROVED, card);
  // Both wait: one for the payer, the other one for the answer to a charge that the service is asked for while it is away.
  const stop = async (route) => {
    await service.kill();
    await route.continue();
  };
  await card.route("**/charge", stop, { times: 1 });
  await card.click("#pay");
  await sleep(500);
  await service.start();
  await ana.done(card);
  const [charge] = await chargesOf(byPix);
  await call("POST", `/v1/charges/${charge.id}`, { status: "authorized" });
  await ana.done();
  assert.equal(await paidBy(byCard), 1);
  assert.equal(await paidBy(byPix), 1);
  return ana;
}

/** Runs a story, and tells how it went. */
async function run(name, story) {
  const begun = Date.now();
  const { context, told } = await story(name).catch(async (error) => {
    // What the buyers see where a story fails.
    const pages = browser.contexts().flatMap((context) => context.pages());
    for (const [at, page] of pages.entries()) await page.screenshot({ path: `${PICTURES}/failed-${name}-${at}.png` }).catch(() => {});
    throw error;
  });
  await context.close();
  console.log(JSON.stringify({ ...told, milliseconds: Date.now() - begun }));
}

try {
  const chosen = Object.entries(stories).filter(([name]) => !ONLY || name.includes(ONLY));
  // Two at once: a page waits more than it works.
  const runNext = async () => {
    for (let next = chosen.shift(); next; next = chosen.shift()) await run(...next);
  };
  await Promise.all([runNext(), runNext()]);
  if (!ONLY || "restart".includes(ONLY)) await run("restart", restart);
} finally {
  await browser.close();
  await service.kill().catch(() => {});
}
