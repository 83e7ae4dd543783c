// What the other files stand on: the session as the server wrote it into the page, elements, and what is kept in the browser.
// The files are one script, put together in the order of their names.
const session = JSON.parse(document.getElementById("session").textContent);
const { texts } = session;
const $ = (id) => document.getElementById(id);
const form = $("checkout");
const stage = $("stage");
const payButton = $("pay");
const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// An id that nobody guesses; `crypto.randomUUID` would demand HTTPS.
function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20)].join("-");
}

// How far the clock of the service is ahead of this one.
let ahead = 0;
const now = () => Date.now() + ahead;

// The attempt to pay that is under way in this tab: the key of its request, and its charge once it is known. Nothing else is
// kept, and nothing of a card ever.
const attempt = {
  place: `checkout.${session.id}`,
  kept: null,
  read() {
    if (!this.kept) {
      try {
        this.kept = JSON.parse(sessionStorage.getItem(this.place)) ?? {};
      } catch {
        this.kept = {};
      }
    }
    return this.kept;
  },
  write(kept) {
    this.kept = kept;
    try {
      sessionStorage.setItem(this.place, JSON.stringify(kept));
    } catch {
      // A browser that keeps nothing still pays; only a reload forgets.
    }
  },
  // The same key until it is known what became of its request.
  key() {
    const { key = newId() } = this.read();
    this.write({ ...this.read(), key });
    return key;
  },
  has(charge) {
    this.write({ ...this.read(), charge });
  },
  over() {
    this.write({});
  },
};

function tell(text) {
  $("news").textContent = text;
}

function notice(text) {
  const place = $("notice");
  place.hidden = !text;
  place.textContent = text ?? "";
}

// The error at a field, or its end.
function mark(name, text) {
  const place = form.querySelector(`[data-field="${name}"]`);
  if (!place) return;
  const control = place.querySelector("input,select,.hosted");
  let error = place.querySelector(".error");
  if (!text) {
    error?.remove();
    place.classList.remove("wrong");
    control?.removeAttribute("aria-invalid");
    control?.removeAttribute("aria-describedby");
    return;
  }
  if (!error) {
    error = document.createElement("span");
    error.className = "error";
    error.id = `${name}-error`;
    place.append(error);
  }
  error.textContent = text;
  place.classList.add("wrong");
  control?.setAttribute("aria-describedby", error.id);
  // A frame says by itself whether its field is right.
  if (control && !control.classList.contains("hosted")) control.setAttribute("aria-invalid", "true");
}

function unmarkAll() {
  for (const place of form.querySelectorAll(".wrong")) mark(place.dataset.field);
  notice();
}
