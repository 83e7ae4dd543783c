// A shop's page that somebody else's script has got into, and that tries to read the card in the fields of the library.
import assert from "node:assert/strict";
import { CARD, PLACES, REGENTE_URL, fieldIn, hasCard, openShop, page as html, tell, typeCard } from "./shop.mjs";

/** In the page before the library: notes the secrets that the page makes, and all that is told to it. */
const SPY = `
  window.names = []; window.messages = []; window.complaints = [];
  const random = crypto.getRandomValues.bind(crypto);
  crypto.getRandomValues = (bytes) => {
    random(bytes);
    names.push(Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""));
    return bytes;
  };
  addEventListener("message", (event) => messages.push(JSON.stringify(event.data)));
  window.attempt = (what) => { try { return String(what()); } catch (error) { return error.name; } };
  window.pause = (milliseconds) => new Promise((over) => setTimeout(over, milliseconds));
  window.newFrame = (name, message) => new Promise((loaded) => {
    const frame = Object.assign(document.createElement("iframe"), { name, src: "${REGENTE_URL}/fields/" });
    frame.onload = () => { if (message) frame.contentWindow.postMessage(message, "*"); loaded(frame); };
    document.body.append(frame);
  });`;

/** Styles that would carry values out, if they were applied as they are. */
const LEAKING = `{
  "input": { background: "url(/leak-1)", "background-image": "url(/leak-2)", "border-image-source": "url(/leak-3)",
    color: "red; background: url(/leak-4)", "font-family": "x, url(/leak-5)", cursor: "url(/leak-6), auto",
    "list-style-image": "url(/leak-7)", "--leak": "url(/leak-8)", content: "attr(value)", "box-shadow": "0 0 var(--leak)",
    "@import": "url(/leak-9)", "mask": "url(/leak-10)", "background-color": "u\\\\72l(/leak-11)" },
  "input[value^='4']": { background: "url(/leak-12)", color: "green" },
  "input{} @import url(/leak-13); input": { color: "green" },
  ":focus}@font-face{font-family:x;src:url(/leak-14)}": { "font-family": "x" },
  "@font-face": { "font-family": "x", src: "url(/leak-15)" } }`;

/** A frame of another origin that talks to the fields beside it. */
const BYSTANDER = `<script>
  const tell = () => { for (let i = 0; i < parent.frames.length; i++) {
    parent.frames[i].postMessage({ type: "setTypeField", field: "card-number", fieldConfig: {}, styles: {} }, "*");
    parent.frames[i].postMessage({ eventType: "submit", data: { authorizationData: {}, card: {} } }, "*");
  } };
  addEventListener("message", (event) => parent.postMessage({ overheard: event.data }, "*"));
  setInterval(tell, 20);
</script>`;

export async function spying({ open, library, made, publicKey }) {
  const bystander = await openShop({ "/": html("Bystander", BYSTANDER) });
  const shop = await openShop({
    "/": html("Shop", `<iframe name="card-number" src="/overlay" title="not a field"></iframe><script>${SPY}</script>
      ${PLACES}${library}<script>${made()}</script><iframe src="${bystander.url}" title="bystander"></iframe>`),
    "/overlay": html("Overlay", `<script>addEventListener("message", (event) => parent.postMessage({ overlaid: event.data }, "*"))</script>`),
    "/grab": html("Grab", `<script>parent.postMessage({ grabbed: [name, document.referrer, history.length] }, "*")</script>`),
    "/worker.js": { type: "text/javascript", text: `
      self.addEventListener("install", () => self.skipWaiting());
      self.addEventListener("activate", (event) => event.waitUntil(clients.claim()));
      self.addEventListener("fetch", (event) => event.waitUntil((async () => {
        const text = event.request.url + " " + await event.request.clone().text();
        for (const client of await self.clients.matchAll()) client.postMessage({ fetched: text });
      })()));` },
  });
  const { page, asked, close } = await open(`${shop.url}/`);
  await page.evaluate(async () => {
    await navigator.serviceWorker.register("/worker.js");
    await navigator.serviceWorker.ready;
  });
  await page.reload();
  await page.waitForFunction(() => navigator.serviceWorker.controller);
  await page.evaluate(() => navigator.serviceWorker.addEventListener("message", ({ data }) => messages.push(JSON.stringify(data))));
  await typeCard(page);

  const told = await page.evaluate(async ({ url, leaking, key }) => {
    const frames = [...document.querySelectorAll("div > iframe")];
    const facts = {};
    // Through the window, the document, a name, and a window that is opened under the frame's name.
    facts.reached = frames.flatMap((frame) => [
      attempt(() => frame.contentDocument), attempt(() => frame.contentWindow.document), attempt(() => frame.contentWindow.input),
      attempt(() => frame.contentWindow.sessionStorage), attempt(() => window.open("", "card-cvv").document),
      attempt(() => frame.contentWindow.frames[0]), attempt(() => frame.contentWindow.eval("1")),
    ]);
    // Messages that would make the frames tell the values: another agreement, another field, the published library's.
    for (const frame of frames) {
      for (const field of ["card-number", "card-cvv"]) {
        frame.contentWindow.postMessage({ type: "setTypeField", field, fieldConfig: { container: field } }, url);
        frame.contentWindow.postMessage({ type: "setTypeField", field, channel: "f".repeat(32), fieldConfig: {} }, url);
      }
      for (const eventType of ["updateCardValues", "validity", "tokenize", "focus"]) {
        frame.contentWindow.postMessage({ eventType, data: { field: "card-number" } }, url);
      }
      frame.contentWindow.postMessage({ ask: "1" }, url);
    }
    // A channel with the right name, of the page's own origin.
    const channels = names.map((name) => new BroadcastChannel(`regente-fields-${name}`));
    for (const channel of channels) {
      channel.onmessage = (event) => messages.push(JSON.stringify(event.data));
      channel.postMessage({ ask: "2" });
    }
    facts.channels = channels.length;
    // Further frames: one that takes part in the channel, one as the published library makes it.
    const [channel] = names;
    const inside = await newFrame("card-number", { type: "setTypeField", field: "card-number", fieldConfig: {}, channel });
    const published = await newFrame("card-number", { type: "setTypeField", field: "card-number", fieldConfig: {} });
    await pause(100);
    const submit = { eventType: "submit", data: { authorizationData: { clientId: "x", apiKey: key }, card: {} } };
    for (const frame of [inside, published]) frame.contentWindow.postMessage(submit, url);
    // Styles.
    library.restyle(eval(`(${leaking})`));
    frames[0].contentWindow.postMessage({ type: "setTypeField", field: "card-number", styles: eval(`(${leaking})`) }, url);
    await pause(300);
    return facts;
  }, { url: REGENTE_URL, leaking: LEAKING, key: publicKey });
  for (const reached of told.reached) assert.match(reached, /^(null|undefined|SecurityError)$/);
  assert.ok(told.channels >= 1, "the spy knows the name of the channel");
  const look = await fieldIn(page, "card-number").evaluate((input) => {
    const { color, backgroundImage, fontFamily } = getComputedStyle(input);
    return { color, backgroundImage, fontFamily };
  });
  assert.deepEqual([look.backgroundImage, look.color === "rgb(0, 128, 0)"], ["none", false], JSON.stringify(look));

  // After all this the fields still work, for whom they belong to.
  assert.equal(await fieldIn(page, "card-number").inputValue(), "4916 7451 2029 4124");
  const { tokenId, error } = await page.evaluate(() => library.tokenize());
  assert.ok(tokenId, JSON.stringify(error));

  // Whoever comes later has the card sent to no account of their own, by no frame: neither by the one in which the number was typed,
  // nor by another one in the same channel, nor the code alone.
  const before = asked.length;
  const stolen = await page.evaluate(async ({ url, key, id }) => {
    const answers = [];
    addEventListener("message", ({ data }) => { if (data.eventType === "tokenize") answers.push(data.data); });
    const authorizationData = { clientId: id, apiKey: key };
    const submit = (frame, more) => frame.contentWindow.postMessage({ eventType: "submit", data: { authorizationData, ...more } }, url);
    const [number, , , code] = document.querySelectorAll("div > iframe");
    submit(number, {});
    submit(code, { cvvOnly: true });
    const [channel] = names;
    submit(await newFrame("card-number", { type: "setTypeField", field: "card-number", fieldConfig: {}, channel }), {});
    while (answers.length < 3) await pause(20);
    return answers.map(({ error }) => [error?.code, ...(error?.details ?? [])].join(" ")).sort();
  }, { url: REGENTE_URL, key: publicKey, id: "3f1c1b1e-2a7b-4a57-9d35-000000000000" });
  assert.deepEqual(stolen, ["400 cardNumber should not be empty", "403", "403"]);
  assert.deepEqual(asked.slice(before).filter((request) => request.startsWith("POST")), [], "nothing was sent");

  // A frame that nobody has configured listens to the page around it alone, and to nobody in a window of its own.
  const idle = await page.evaluate(async () => {
    await newFrame("idle");
    await pause(200);
    return frames.length;
  });
  assert.ok(idle > 5);
  assert.equal(await page.frameLocator("iframe[name=idle]").locator("input").count(), 0, "a bystander configures no field");
  const [popup] = await Promise.all([page.waitForEvent("popup"), page.evaluate(async (url) => {
    const popup = window.open(url);
    for (let tries = 0; tries < 10; tries++) {
      popup.postMessage({ type: "setTypeField", field: "card-number", fieldConfig: {} }, "*");
      await pause(50);
    }
  }, `${REGENTE_URL}/fields/`)]);
  assert.equal(await popup.locator("input").count(), 0, "a window of its own is no field");

  // Led elsewhere, a frame takes nothing along.
  const led = await page.evaluate(() => {
    const frames = document.querySelectorAll("div > iframe");
    for (const frame of frames) frame.src = "/grab";
    return frames.length;
  });
  await page.waitForFunction((led) => {
    const told = (what) => messages.filter((message) => message.startsWith(what)).length;
    return told('{"grabbed"') >= led && messages.some((message) => message.startsWith('{"fetched"') && message.includes("/grab"));
  }, led);
  const heard = await page.evaluate(() => messages);
  assert.deepEqual(heard.filter((message) => hasCard(message)), [], "no message tells the card");
  assert.deepEqual(heard.filter((message) => /updateCardValues|ask|answer/.test(message)), []);
  assert.deepEqual(heard.filter((message) => message.includes("fetched") && /\/fields\/|\/v1\/tokens/.test(message)), []);
  assert.deepEqual(heard.filter((message) => /overlaid|overheard/.test(message) && /requestId|clientId|tokenId/.test(message)), []);
  assert.deepEqual([...shop.asked, ...asked].filter((address) => /leak/.test(address)), [], "no style loads anything");
  const stored = await page.evaluate(async () => JSON.stringify([
    { ...localStorage }, { ...sessionStorage }, document.cookie, await indexedDB.databases(), await caches.keys(), names,
  ]));
  assert.ok(!hasCard(stored) && !stored.includes(CARD.holder), stored);
  tell("is spied on in vain", { complaints: [] });
  await close();
  for (const server of [shop, bystander]) server.close();
}
