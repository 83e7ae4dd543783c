"use strict";
// Asks for new events every second and shows them, newest first.
(() => {
  const list = document.getElementById("events");
  const state = document.getElementById("state");
  const { from, pay } = list.dataset;
  const bad = ["failed", "canceled", "charged_back", "dispute", "voided"];
  const language = document.documentElement.lang;
  const paying = new Map();
  let last = 0;

  function element(name, text, parent) {
    const made = document.createElement(name);
    made.textContent = text;
    parent.append(made);
    return made;
  }

  function amount(data) {
    if (typeof data.amount !== "number" || !data.currency) return "";
    return new Intl.NumberFormat(language, { style: "currency", currency: data.currency }).format(data.amount / 100);
  }

  // The button is on the event that tells what waits, until another event of that charge comes.
  function offerToPay(data, item) {
    const button = element("button", pay, item);
    button.type = "button";
    button.addEventListener("click", async () => {
      button.disabled = true;
      const answer = await fetch(`${from}/charges/${data.id}/pay`, { method: "POST" }).catch(() => null);
      if (!answer || !answer.ok) button.disabled = false;
    });
    paying.set(data.id, button);
  }

  // Moves the time of the account a day ahead; what falls due meanwhile tells of itself by events.
  const day = document.getElementById("day");
  const today = document.getElementById("today");
  day.addEventListener("click", async () => {
    day.disabled = true;
    const answer = await fetch(`${from}/day`, { method: "POST" }).catch(() => null);
    if (answer && answer.ok) {
      const { now } = await answer.json();
      today.textContent = new Date(now).toLocaleString(language, { dateStyle: "long", timeStyle: "short" });
      today.dateTime = now;
    }
    day.disabled = false;
  });

  function show({ name, at, body }) {
    const data = body.data || {};
    const item = document.createElement("li");
    const event = name.split(".").slice(1).join(".");
    item.className = bad.includes(event) ? "bad" : event.includes("pending") ? "" : "good";
    const line = element("p", "", item);
    element("b", name, line);
    element("span", amount(data), line);
    const time = element("time", new Date(at).toLocaleTimeString(language), line);
    time.dateTime = at;
    paying.get(data.id)?.remove();
    paying.delete(data.id);
    const request = (data.transactionRequests || [])[0] || {};
    if (event === "pending" && (request.pix || request.boleto)) offerToPay(data, item);
    const details = document.createElement("details");
    element("summary", "JSON", details);
    element("pre", JSON.stringify(body, null, 2), details);
    item.append(details);
    list.prepend(item);
  }

  async function look() {
    try {
      const answer = await fetch(`${from}/events?after=${last}`);
      if (!answer.ok) throw new Error(answer.status);
      const events = await answer.json();
      events.forEach(show);
      last = events.length ? events[events.length - 1].number : last;
      state.textContent = list.childElementCount ? "" : state.dataset.none;
    } catch {
      state.textContent = state.dataset.gone;
    }
    setTimeout(look, 1000);
  }
  look();
})();
