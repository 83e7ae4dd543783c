// What becomes of the payment, as the service tells it: a stream of events, and questions where streams do not pass.
const ASK_EVERY = 4_000;
// The service gives a sign of life every 15 seconds; without one the connection is lost.
const SILENCE_MAX = 40_000;

const live = {
  reading: null,
  start() {
    if (this.reading || document.hidden) return;
    this.reading = new AbortController();
    this.listen(this.reading.signal);
  },
  stop() {
    this.reading?.abort();
    this.reading = null;
  },
  async listen(signal) {
    for (let failures = 0; !signal.aborted; ) {
      const heard = await this.stream(signal).catch(() => false);
      failures = heard ? 0 : failures + 1;
      if (signal.aborted) return;
      const state = await look();
      if (signal.aborted) return;
      if (state) apply(state);
      if (!signal.aborted) await wait(failures ? ASK_EVERY : 1_000);
    }
  },
  // Whether anything was heard before the stream ended.
  async stream(signal) {
    const { charge } = attempt.read();
    const answer = await fetch(`/pay/${session.id}/events${charge ? `?charge=${charge}` : ""}`, {
      headers: { "X-Client-Id": session.clientId, "X-Api-Key": session.publicKey, Accept: "text/event-stream" },
      cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer", signal,
    });
    if (!answer.ok) return false;
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let [rest, heard] = ["", false];
    for (;;) {
      const { value: piece, done } = await Promise.race([reader.read(), wait(SILENCE_MAX).then(() => ({ done: true }))]);
      if (done) {
        reader.cancel().catch(() => {});
        return heard;
      }
      const messages = (rest + piece).split("\n\n");
      rest = messages.pop();
      for (const message of messages) {
        const lines = message.split("\n").filter((line) => line.startsWith("data:"));
        if (!lines.length) continue;
        heard = true;
        apply(JSON.parse(lines.map((line) => line.slice(5)).join("\n")));
        if (signal.aborted) return true;
      }
    }
  },
};

// A phone that comes back from the app of a bank has lost its stream.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) live.stop();
  else if ((shown.charge && shown.view !== "done") || shown.view === "saving") live.start();
});
addEventListener("pageshow", ({ persisted }) => persisted && resume());
// The page inside of the challenge's frame tells that the cardholder has answered.
addEventListener("message", ({ origin, data }) => {
  if (origin === location.origin && data === "checkout:returned" && shown.view === "challenge") show("processing");
});

// What the service knows decides what is shown.
function apply(state) {
  if (session.takesCard) return applyCard(state);
  const { session: { status, payable }, charge, underpaid } = state;
  if (charge) showCharge(charge, underpaid);
  if (shown.view === "done") return;
  const isWaiting = status === "created" && charge && !isFailed(charge) && !isGivenBack(charge);
  if (!payable && !isWaiting && (underpaid || !isPaid(charge))) {
    // Paid in another window, canceled or over: the server has the page for it.
    attempt.over();
    live.stop();
    location.reload();
  }
}

const money = ({ amount, currency }) => {
  const format = new Intl.NumberFormat(document.documentElement.lang, { style: "currency", currency });
  return format.format(amount / 10 ** format.resolvedOptions().maximumFractionDigits);
};
const isPaid = (charge) => ["authorized", "pre_authorized", "capture_pending"].includes(charge?.status);
const isGivenBack = (charge) => ["refund_pending", "voided", "charged_back"].includes(charge?.status);
const isFailed = (charge) => ["failed", "canceled"].includes(charge?.status);

function showCharge(charge, underpaid) {
  shown.charge = charge;
  attempt.has(charge.id);
  // The shop decides whether it takes less: this page hears of it.
  if (underpaid && isPaid(charge)) {
    show("underpaid", { paid: text(money(charge)) });
    return live.start();
  }
  if (isPaid(charge)) {
    live.stop();
    attempt.write({ charge: charge.id });
    return showDone(charge);
  }
  if (isGivenBack(charge)) {
    live.stop();
    if (shown.view === "done") return;
    // The server has the page for what the session is now.
    attempt.over();
    return location.reload();
  }
  if (isFailed(charge)) {
    live.stop();
    if (shown.view === "over") return;
    shown.charge = null;
    attempt.over();
    show(null);
    return showDecline(charge);
  }
  const { paymentMethod, transactionRequests, threeDSecure2 } = charge;
  const redirect = paymentMethod.paymentUrl ?? transactionRequests.find(({ nupay }) => nupay?.paymentUrl)?.nupay.paymentUrl;
  if (paymentMethod.qrCodeData) showPix(charge);
  else if (paymentMethod.barcodeData) showBoleto(charge);
  else if (redirect) showRedirect(redirect);
  else if (threeDSecure2?.authData?.response) showChallenge(threeDSecure2.authData);
  else show("processing");
  live.start();
}

const DECLINES = {
  insufficient_funds: ["declinedFunds"], expired_card: ["declinedExpired", "card-expiration-date"],
  invalid_cvv: ["declinedCvv", "card-cvv"], invalid_number: ["declinedNumber", "card-number"],
  invalid_installment: ["declinedInstallment"], issuer_not_available: ["declinedLater"], try_again: ["declinedLater"],
  restricted_card: ["declinedBank"], pickup_card: ["declinedBank"], lost_card: ["declinedBank"], stolen_card: ["declinedBank"],
  not_permitted: ["declinedBank"], fraud_suspect: ["declinedBank"], fraud_confirmed: ["declinedBank"],
  security_violation: ["declinedBank"], transaction_not_allowed: ["declinedAuthentication"],
};

function showDecline({ paymentMethod, transactionRequests }) {
  const isCard = paymentMethod.paymentType === "credit";
  const refusal = transactionRequests.find(({ providerError }) => providerError)?.providerError;
  const [name, field] = DECLINES[refusal?.declinedCode] ?? ["declined"];
  notice(isCard ? texts[name] : texts.notPaid);
  if (isCard && field) mark(field, texts[name]);
  $("notice").focus();
}
