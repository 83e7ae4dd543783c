// Regente's browser library, version 2: card fields that live in frames of the payment service. What a buyer types there
// never comes to this page; the page gets a `tokenId`. A plain script that defines `RegenteTokenization`; `regente.mjs` is
// the same as a module. What page and frames say to each other is in docs/browser-library.md of Regente.
(() => {
  "use strict";

  /** The brand in the names of classes and of the storage key, as pages in use have them. */
  const VENDOR = "malga";
  const TOKENIZE_MS_MAX = 30_000;
  /** How long a frame may take until it is loaded anew, and how often that is done. */
  const FRAME_MS_MAX = 10_000;
  const FRAME_TRIES_MAX = 3;
  const UNEXPECTED = { type: "api_error", code: 500, message: "unexpected error" };
  const LABELS = {
    en: ["Card number", "Name on card", "Expiry date", "Security code"],
    es: ["Número de tarjeta", "Nombre en la tarjeta", "Vencimiento", "Código de seguridad"],
    pt: ["Número do cartão", "Nome no cartão", "Vencimento", "Código de segurança"],
  };
  const CONTAINERS = ["card-number", "card-holder-name", "card-expiration-date", "card-cvv"];

  /** The service that this script came from; nothing when it was copied elsewhere or is a part of a bundle. */
  const script = typeof document === "object" ? document.currentScript : null;
  const home = /^(https?:\/\/.+)\/js\/v\d+\.\d+\.\d+\/[^/]+$/.exec(script?.src ?? "")?.[1];

  class RegenteTokenization {
    #apiKey;
    #clientId;
    #options;
    #vendor;
    #language;
    #url;
    /** The name under which the frames of this instance, and no others, find each other. */
    #channel = randomName();
    /** What belongs to a field, by its container. */
    #fields = new Map();
    #handlers = new Map();
    #waiting = new Map();
    #ended = new AbortController();

    constructor(configurations) {
      const { apiKey, clientId, options = {} } = configurations ?? {};
      if (!apiKey || !clientId) {
        console.error("apiKey or clientId is missing: new RegenteTokenization({ apiKey, clientId, options })");
      }
      [this.#apiKey, this.#clientId, this.#options] = [apiKey, clientId, options];
      this.#vendor = options.vendor ?? VENDOR;
      this.#language = languageOf(options.language);
      // Other libraries keep the card there.
      try { sessionStorage.removeItem(`${this.#vendor}-card`); } catch { /* the page has no storage */ }
      this.#url = fieldsUrl(options);
      const fields = options.config?.fields;
      if (!this.#url || !fields || typeof fields !== "object") {
        console.error(this.#url ? "options.config.fields is missing" : "options.hostedFieldsUrl or options.apiUrl is missing");
        return;
      }
      window.addEventListener("message", (event) => this.#hear(event), { signal: this.#ended.signal });
      for (const config of Object.values(fields)) this.#add(config);
    }

    /** A token for the card; resolves `{ tokenId }` or `{ error }`, never rejects. */
    tokenize() {
      return this.#submit("card-number", {});
    }

    /** A token for the security code of a stored card, from the field `card-cvv` alone. */
    tokenizeCvv() {
      return this.#submit("card-cvv", { cvvOnly: true });
    }

    /** Calls `handler` at each event: `validity`, `cardTypeChanged`, `focus`, `blur`, `ready`. */
    on(eventType, handler) {
      this.#handlers.set(eventType, [...(this.#handlers.get(eventType) ?? []), handler]);
    }

    /** Moves the focus into the field of this container. */
    focus(container) {
      const field = this.#fields.get(container);
      field?.frame.focus();
      if (field) this.#tell(field, { eventType: "focus", data: { field: container } });
    }

    /** Gives the fields other styles, such as those of a dark page. What is typed stays. */
    restyle(styles) {
      this.#options.config.styles = styles;
      for (const field of this.#fields.values()) this.#configure(field);
    }

    /** Takes the frames out of the page and forgets them. */
    destroy() {
      this.#ended.abort();
      for (const field of this.#fields.values()) {
        clearTimeout(field.timer);
        field.observer?.disconnect();
        field.frame.remove();
        if (field.parent) for (const state of ["", "-focused", "-valid", "-invalid"]) this.#mark(field, state, false);
      }
      this.#fields.clear();
    }

    #add(config) {
      const { container } = config ?? {};
      if (!CONTAINERS.includes(container)) {
        console.error(`container must be one of: ${CONTAINERS.join(", ")}`);
        return;
      }
      const frame = document.createElement("iframe");
      const field = { config, container, frame, tries: 0, isReady: false };
      for (const [name, value] of [["name", container], ["width", "100%"], ["height", "100%"], ["frameborder", "0"]]) {
        frame.setAttribute(name, value);
      }
      frame.title = LABELS[this.#language][CONTAINERS.indexOf(container)];
      frame.referrerPolicy = "no-referrer";
      frame.addEventListener("load", () => this.#configure(field));
      this.#fields.set(container, field);
      const place = () => {
        field.parent = document.getElementById(container);
        if (!field.parent) return false;
        this.#mark(field, "", true);
        this.#load(field);
        field.parent.appendChild(frame);
        for (const label of document.querySelectorAll(`label[for="${container}"]`)) {
          label.addEventListener("click", () => this.focus(container), { signal: this.#ended.signal });
        }
        return true;
      };
      if (place()) return;
      field.observer = new MutationObserver(() => place() && field.observer.disconnect());
      field.observer.observe(document.documentElement, { childList: true, subtree: true });
    }

    /** Loads the frame, and again while it does not answer: networks of phones lose the first request. */
    #load(field) {
      field.tries += 1;
      field.frame.src = this.#url.href;
      if (field.tries < FRAME_TRIES_MAX) {
        field.timer = setTimeout(() => field.isReady || this.#load(field), FRAME_MS_MAX);
      }
    }

    #configure(field) {
      const { config = {}, sandbox, debug } = this.#options;
      const { colorScheme } = getComputedStyle(field.parent ?? document.documentElement);
      this.#tell(field, {
        type: "setTypeField", field: field.container, fieldConfig: plain(field.config), styles: plain(config.styles),
        preventAutofill: config.preventAutofill, debug, sandbox,
        channel: this.#channel, language: this.#language, colorScheme,
      });
    }

    #tell(field, message) {
      field.frame.contentWindow?.postMessage(message, this.#url.origin);
    }

    #hear(event) {
      if (event.origin !== this.#url.origin || !event.data) return;
      const field = [...this.#fields.values()].find(({ frame }) => frame.contentWindow === event.source);
      const { eventType, data, requestId } = event.data;
      if (!field || !event.source || !data) return;
      if (eventType === "tokenize") {
        this.#waiting.get(requestId)?.(data);
      } else if (data.field === field.container) {
        this.#take(field, eventType, data);
      }
    }

    #take(field, eventType, data) {
      const place = { field: field.container, parentNode: field.parent };
      switch (eventType) {
        case "ready":
          field.isReady = true;
          clearTimeout(field.timer);
          field.pending?.();
          return this.#emit(eventType, place);
        case "validity": {
          const { valid, empty, potentialValid, error } = data;
          // An empty field is complained about only when it was to be tokenized.
          const isOpen = potentialValid || (empty && !data.submitted);
          this.#mark(field, "-valid", !isOpen && valid);
          this.#mark(field, "-invalid", !isOpen && !valid);
          return isOpen ? undefined : this.#emit(eventType, { ...place, valid, empty, potentialValid, error });
        }
        case "cardTypeChanged":
          return this.#emit(eventType, { ...place, card: data.card });
        case "focus":
        case "blur":
          this.#mark(field, "-focused", eventType === "focus");
          return this.#emit(eventType, place);
        case "enter":
          return field.parent?.closest("form")?.requestSubmit?.();
        default:
          console.warn(`Unhandled event type: ${eventType}`);
      }
    }

    #mark(field, state, isOn) {
      field.parent.classList.toggle(`${this.#vendor}-hosted-field${state}`, isOn);
    }

    #emit(eventType, data) {
      for (const handler of this.#handlers.get(eventType) ?? []) handler(data);
    }

    #submit(container, more) {
      const field = this.#fields.get(container);
      if (!field) {
        console.error(`there is no field ${container} to tokenize`);
        return Promise.resolve({ error: UNEXPECTED });
      }
      const requestId = randomName();
      const { sandbox, debug, tokensPath } = this.#options;
      const data = {
        authorizationData: { clientId: this.#clientId, apiKey: this.#apiKey }, sandbox, debug, tokensPath,
        fields: [...this.#fields.keys()], ...more,
      };
      return new Promise((resolve) => {
        const settle = (outcome) => {
          clearTimeout(timer);
          this.#waiting.delete(requestId);
          resolve(outcome);
        };
        const timer = setTimeout(() => settle({ error: UNEXPECTED }), TOKENIZE_MS_MAX);
        this.#waiting.set(requestId, settle);
        const send = () => this.#waiting.has(requestId) && this.#tell(field, { eventType: "submit", requestId, data });
        if (field.isReady) return send();
        const before = field.pending;
        field.pending = () => { before?.(); send(); };
      });
    }
  }

  /** The address of the frames' document. */
  function fieldsUrl({ hostedFieldsUrl, apiUrl }) {
    const api = apiUrl ?? home;
    const text = hostedFieldsUrl ?? (api && `${api.replace(/\/$/, "")}/fields/`);
    try {
      return text ? new URL(text, document.baseURI) : undefined;
    } catch {
      return undefined;
    }
  }

  function languageOf(wanted) {
    const tag = wanted || document.documentElement.lang || navigator.language;
    const known = String(tag).slice(0, 2).toLowerCase();
    return known in LABELS ? known : "en";
  }

  /** A name that nobody guesses; `crypto.randomUUID` would demand HTTPS. */
  function randomName() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  /** What of a value can be sent to a frame: no functions, no elements. */
  function plain(value) {
    return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
  }

  globalThis.RegenteTokenization = RegenteTokenization;
  if (typeof module === "object" && module.exports) module.exports = { RegenteTokenization };
})();
