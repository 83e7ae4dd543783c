// Whether a person pays, where the session asks for that. `clients/js/fields/proof.js` does the work, here for the payment and
// in the frame of the card's number for its token.
const humanBox = $("human");

const human = {
  // The token, or its making, and the attempt that it is for.
  token: null,
  key: null,
  say(text) {
    $("human-state").textContent = text;
  },
  // The headers that prove it for the attempt that is under way.
  async proof() {
    if (!humanBox) return {};
    const key = attempt.key();
    if (!this.token || this.key !== key) Object.assign(this, { key, token: this.make(key) });
    return { "X-Captcha-Token": await this.token };
  },
  forget() {
    this.token = null;
  },
  async make(key) {
    this.say(texts.humanWorking);
    const answer = await call("GET", `/pay/${session.id}/challenge${session.takesCard ? "?operation=card" : ""}`, null, { "X-Idempotency-Key": key });
    if (answer?.ok) {
      const token = await solve(answer.body.challenge);
      this.say(texts.humanDone);
      return token;
    }
    this.forget();
    this.say(texts.humanFailed);
    throw new Refused(texts.humanFailed);
  },
  problem() {
    const text = humanBox && !humanBox.checked ? texts.humanTick : null;
    mark("human", text);
    return text;
  },
};

humanBox?.addEventListener("change", () => {
  mark("human");
  if (humanBox.checked) human.proof().catch(() => (humanBox.checked = false));
});
