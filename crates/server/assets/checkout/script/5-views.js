// What is shown instead of the form while a payment is under way and when it is done.
const shown = { view: null, charge: null, isSaving: false, leaving: 0 };

function show(view, parts = {}) {
  const isNew = shown.view !== view;
  shown.view = view;
  form.hidden = Boolean(view);
  stage.hidden = !view;
  $("payment").removeAttribute("aria-busy");
  if (!view) return;
  if (isNew) {
    stage.replaceChildren($(`view-${view}`).content.cloneNode(true));
    notice();
  }
  for (const part of stage.querySelectorAll("[data-part]")) parts[part.dataset.part]?.(part);
  if (isNew && view !== "loading") {
    stage.focus({ preventScroll: true });
    stage.scrollIntoView({ block: "nearest" });
    tell(stage.querySelector("h2")?.textContent ?? "");
  }
}

const text = (value) => (part) => (part.textContent = value);
const value = (of) => (part) => (part.value = of);

// Pictures and slips come from this service, whatever address it goes by.
const here = (url) => new URL(url).pathname;

let ticking;
function countDown(end) {
  clearInterval(ticking);
  const tick = () => {
    const left = Math.max(0, Math.floor((end - now()) / 1000));
    const two = (number) => String(number).padStart(2, "0");
    const [hours, minutes] = [Math.floor(left / 3600), Math.floor((left % 3600) / 60)];
    const place = stage.querySelector("[data-part=clock]");
    if (place) place.textContent = `${hours ? `${hours}:` : ""}${two(minutes)}:${two(left % 60)}`;
    if (!left) {
      clearInterval(ticking);
      if (shown.view === "pix") show("over");
    }
  };
  ticking = setInterval(tick, 1000);
  tick();
}

function showPix({ paymentMethod, createdAt }) {
  const end = Date.parse(createdAt) + paymentMethod.expiresIn * 1000;
  if (end <= now()) return show("over");
  show("pix", {
    picture: (part) => (part.src = here(paymentMethod.qrCodeImageUrl).replace(/\.png$/, ".svg")),
    code: value(paymentMethod.qrCodeData),
  });
  countDown(end);
}

// The line of a boleto in the groups in which banks print it. Copied are its digits.
const grouped = (line) => line.replace(/^(.{5})(.{5})(.{5})(.{6})(.{5})(.{6})(.)(.{14})$/, "$1.$2 $3.$4 $5.$6 $7 $8");

function showBoleto({ paymentMethod }) {
  const days = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "long", timeZone: "UTC" });
  show("boleto", {
    due: text(days.format(new Date(paymentMethod.expiresDate.slice(0, 10)))),
    code: (part) => {
      part.value = grouped(paymentMethod.barcodeData);
      part.dataset.copied = paymentMethod.barcodeData;
    },
    file: (part) => (part.href = here(paymentMethod.barcodeImageUrl)),
  });
}

function showRedirect(url) {
  const isNew = shown.view !== "redirect";
  show("redirect", { link: (part) => (part.href = url) });
  if (isNew && shown.isFresh) location.assign(url);
}

// The question of the bank, in a frame that cannot lead this page away.
function showChallenge({ response }) {
  if (shown.view === "challenge") return;
  show("challenge");
  const { stepUrl, token, url, md, paReq, termUrl } = response;
  if (!stepUrl && !md && !paReq) {
    stage.querySelector("iframe").src = url;
    return;
  }
  const fields = stepUrl ? { JWT: token } : { MD: md, PaReq: paReq, TermUrl: termUrl };
  const asking = Object.assign(document.createElement("form"), { method: "post", target: "challenge", action: stepUrl ?? url });
  for (const [name, content] of Object.entries(fields)) {
    asking.append(Object.assign(document.createElement("input"), { type: "hidden", name, value: content }));
  }
  document.body.append(asking);
  asking.submit();
  asking.remove();
}

const LEAVE_AFTER = 8_000;
function showDone(charge) {
  if (shown.view === "done") return;
  show("done", { reference: text(charge.id) });
  const shop = stage.querySelector("[data-part=shop]");
  if (shop && shown.isFresh) shown.leaving = setTimeout(() => location.assign(shop.href), LEAVE_AFTER);
  else stay();
  if (shown.isSaving) saveCard(charge.paymentSource.cardId);
}

function stay() {
  clearTimeout(shown.leaving);
  for (const part of stage.querySelectorAll("[data-part=leaving],[data-do=stay]")) part.remove();
}

async function saveCard(cardId) {
  shown.isSaving = false;
  const answer = await post(`customers/${encodeURIComponent(known.id)}/cards`, { cardId });
  if (answer?.ok) return;
  const extra = stage.querySelector("[data-part=extra]");
  if (extra) Object.assign(extra, { hidden: false, textContent: texts.cardsFailed });
}

stage.addEventListener("click", async ({ target }) => {
  const what = target.dataset?.do;
  if (what === "again") {
    live.stop();
    attempt.over();
    show(null);
    $("payment").focus();
  }
  if (what === "stay") stay();
  if (what === "copy") {
    const code = stage.querySelector("[data-part=code]");
    code.select();
    const copied = code.dataset.copied ?? code.value;
    const done = await navigator.clipboard?.writeText(copied).then(() => true, () => false);
    const before = target.textContent;
    target.textContent = done ? texts.copied : texts.copyFailed;
    tell(target.textContent);
    setTimeout(() => (target.textContent = before), 2_500);
  }
});
