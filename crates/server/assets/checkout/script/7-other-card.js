// Where the session takes a card for a subscription, and no payment: the request that gives it, and what is shown of it.
async function giveCard() {
  const { tokenId } = await cardSource();
  const give = async () => post(`${session.id}/card`, { tokenId }, { "X-Idempotency-Key": attempt.key(), ...(await human.proof()) });
  let answer = await give();
  if (answer?.body.error?.businessCode === "session_captcha_required") {
    // The proof has grown old while the buyer was typing.
    human.forget();
    answer = await give();
  }
  // The next card has a key of its own, also where nobody knows what became of this one: no money moves.
  if (answer?.status !== 429) attempt.over();
  if (answer?.ok && !answer.body.saved) throw new Refused(texts.cardRefused);
  const state = answer?.ok || !answer || [403, 409, 422].includes(answer.status) ? await look() : null;
  if (state && (state.card.saved || !state.session.payable)) return apply(state);
  const why = REFUSALS[answer?.body.error?.businessCode];
  if (why) throw new Refused(why);
  if (answer?.status === 429) throw new Refused(texts.tooMany);
  if (answer?.ok) return show("saved");
  throw new Refused(answer && state ? texts.refused : state ? texts.unavailable : texts.offline);
}

function applyCard({ session: { payable }, card: { saved, outstanding } }) {
  if (saved) {
    attempt.over();
    if (outstanding === "pending") {
      show("saving");
      return live.start();
    }
    live.stop();
    return show(outstanding === "paid" ? "paid" : outstanding === "failed" ? "unpaid" : "saved");
  }
  if (payable) return;
  // Too late, or not needed any more: the server has the page for it.
  live.stop();
  location.reload();
}
