// The form: tabs, checks, and the one request that pays.
const tabs = [...form.querySelectorAll("[role=tab]")];
// Where there is nothing to choose there are no tabs.
const only = form.querySelector(".panel").id.replace("panel-", "");
const chosen = () => tabs.find((tab) => tab.getAttribute("aria-selected") === "true")?.dataset.method ?? only;

function choose(tab) {
  for (const other of tabs) {
    const isChosen = other === tab;
    other.setAttribute("aria-selected", String(isChosen));
    other.tabIndex = isChosen ? 0 : -1;
    $(other.getAttribute("aria-controls")).hidden = !isChosen;
  }
  label();
  if ($("address")) $("address").hidden = !needsAddress(chosen()) || Boolean(known.record);
  notice();
}

// What the button does.
function label() {
  const { action, amount } = $(`panel-${chosen()}`).dataset;
  payButton.textContent = isBusy ? texts.working : amount === undefined ? action : `${action} ${payButton.dataset.total}`;
}

for (const tab of tabs) {
  tab.addEventListener("click", () => choose(tab));
  tab.addEventListener("keydown", ({ key }) => {
    const place = tabs.indexOf(tab);
    const next = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: tabs.length - 1 }[key];
    if (next === undefined) return;
    const other = tabs.at(next % tabs.length);
    choose(other);
    other.focus();
  });
}

let isBusy = false;
function busy(value) {
  isBusy = value;
  payButton.setAttribute("aria-disabled", String(value));
  if (value) tell(texts.working);
  label();
}

// What the buyer chooses; the session has the rest.
function paymentMethod(type) {
  if (type === "credit") return { paymentType: type, installments: Number($("installments")?.value ?? 1) };
  if (type === "click_to_pay") return { paymentType: type, installments: 1 };
  if (type === "drip") return { paymentType: type, browser: { ipAddress: session.buyer.ip, browserFingerprint: newId() } };
  return { paymentType: type };
}

// The wallet is simulated: a real one needs a script of its network, which this page does not load.
function walletSource() {
  const [correlationId, flowId, merchantTransactionId] = Array.from({ length: 3 }, () => newId());
  const walletClickToPay = { dpaId: session.dpaId ?? "sandbox", correlationId, flowId, merchantTransactionId };
  return { sourceType: "wallet", walletPayment: "credit", walletClickToPay };
}

// What the page says where the session does not take a payment.
const REFUSALS = {
  session_captcha_required: texts.humanFailed,
  session_cards_blocked: texts.cardsBlocked,
  session_cards_being_tried: texts.cardsBeingTried,
  session_open_payments_limit_reached: texts.tooManyOpen,
  session_customers_limit_reached: texts.tooManyCustomers,
  multiple_payments_limit_reached: texts.taken,
};

async function pay() {
  await reading;
  const type = chosen();
  unmarkAll();
  const wrong = payerProblems(type);
  const wrongCard = type === "credit" ? cardProblems() : [];
  const isUnproved = human.problem();
  if (wrong.length + wrongCard.length || isUnproved) {
    notice(texts.fix);
    if (wrong.length) wrong[0].focus();
    else if (wrongCard.length) cardFields.focus(wrongCard[0]);
    else humanBox.focus();
    return;
  }
  if (session.takesCard) return giveCard();
  const source = type === "credit" ? await cardSource() : type === "click_to_pay" ? walletSource() : payerSource(type);
  const body = { paymentMethod: paymentMethod(type), paymentSource: source, fraudAnalysis: fraudAnalysis() };
  if (type === "credit") {
    body.threeDSecure2 = authentication();
    if (known.record) body.customerId = known.id;
    shown.isSaving = Boolean(known.record && !savedCard() && $("save-card").checked);
  }
  shown.isFresh = true;
  const charge = async () => post(`${session.id}/charge`, body, { "X-Idempotency-Key": attempt.key(), ...(await human.proof()) });
  let answer = await charge();
  if (answer?.body.error?.businessCode === "session_captcha_required") {
    // The proof has grown old while the buyer was typing.
    human.forget();
    answer = await charge();
  }
  if (!answer) return askAgain();
  if (answer.ok) return showCharge(answer.body);
  const why = REFUSALS[answer.body.error?.businessCode];
  if (why) throw new Refused(why);
  if ([403, 409, 422].includes(answer.status)) return findOut();
  if (answer.status === 429) throw new Refused(texts.tooMany);
  const details = answer.body.error?.details ?? [];
  for (const name of ["email", "document", "phone", "zipCode", "state", "city", "street", "district"]) {
    if (details.some((detail) => detail.includes(name))) mark(name, texts[name] ?? texts.required);
  }
  throw new Refused(details.some((detail) => /customer|document|email|phone/.test(detail)) ? texts.fix : texts.refused);
}

// Nobody answered: whether the charge was made is found out by its key before anything else.
async function askAgain() {
  const state = await look();
  if (state?.charge) return apply(state);
  throw new Refused(state ? texts.unavailable : texts.offline);
}

// Another request of this tab or of another window came first.
async function findOut() {
  for (let times = 0; times < 6; times++) {
    const state = await look();
    if (state) apply(state);
    if (state?.charge || (state && !state.session.payable)) return;
    await wait(1_500);
  }
  throw new Refused(texts.elsewhere);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (isBusy) return;
  busy(true);
  try {
    await pay();
  } catch (error) {
    notice(error instanceof Refused ? error.message : texts.offline);
    $("notice").focus();
  } finally {
    busy(false);
  }
});

// An attempt that this tab began is shown again before the form.
async function resume() {
  const { charge, key } = attempt.read();
  if (!charge && !key && session.beginsPayments) return;
  show("loading");
  if (!charge && !key) {
    // The page is for others, who have instructions: the server has another one for everybody else.
    const ended = new URL(location);
    ended.searchParams.set("ended", "1");
    return location.replace(ended);
  }
  const state = await look();
  show(null);
  if (state) apply(state);
}

for (const link of document.querySelectorAll(".languages a")) link.href += location.hash;
label();
// The frames of the card fields cost a phone more than everything else here, so the page can be used before they come.
if (hasCard) setTimeout(() => cardFields.mount());
resume();
// Who buys, where the shop has named them; until they are known nothing is paid.
const reading = readKnown().then(() => {
  showSaved();
  if (!session.takesCard) choose(tabs.find((tab) => tab.dataset.method === chosen()));
  document.documentElement.dataset.ready = "";
});
