// Regente's browser library, version 1: sends what stands in a form's plain inputs. Deprecated: the page sees the card, which
// brings it into the scope of PCI DSS; version 2 (`regente.js`) keeps cards in frames. A plain script that defines
// `RegenteTokenization`; `v1.mjs` is the same as a module.
(() => {
  "use strict";

  /** The brand in the names of attributes, as pages in use have them. */
  const VENDOR = "malga";
  const ELEMENTS = {
    form: "form", holderName: "holder-name", cvv: "cvv", expirationDate: "expiration-date", number: "number",
  };
  const UNEXPECTED = { error: { type: "api_error", code: 500, message: "unexpected error" } };
  const FORBIDDEN = { error: { type: "invalid_request_error", code: 403, message: "forbidden" } };

  /** The service that this script came from; nothing when it was copied elsewhere or is a part of a bundle. */
  const script = typeof document === "object" ? document.currentScript : null;
  const home = /^(https?:\/\/.+)\/js\/v\d+\.\d+\.\d+\/[^/]+$/.exec(script?.src ?? "")?.[1];

  class RegenteTokenization {
    #apiKey;
    #clientId;
    #url;
    #attributes;

    constructor(configurations) {
      const { apiKey, clientId, options = {} } = configurations ?? {};
      if (!apiKey || !clientId) {
        console.error("apiKey or clientId is missing: new RegenteTokenization({ apiKey, clientId, options })");
      }
      [this.#apiKey, this.#clientId] = [apiKey, clientId];
      this.#url = (options.apiUrl ?? home ?? "").replace(/\/$/, "");
      if (!this.#url) console.error("options.apiUrl is missing");
      const prefix = `data-${options.vendor ?? VENDOR}-tokenization-`;
      this.#attributes = Object.fromEntries(
        Object.entries(ELEMENTS).map(([name, end]) => [name, options.elements?.[name] || prefix + end]),
      );
    }

    /** Sends the values as they stand in the inputs. Resolves `{ tokenId }`, rejects with `{ error }`. */
    async tokenize() {
      const value = (name) => this.#element(name).value;
      const body = JSON.stringify({
        cardNumber: value("number"), cardCvv: value("cvv"),
        cardExpirationDate: value("expirationDate"), cardHolderName: value("holderName"),
      });
      let answer;
      let told;
      try {
        answer = await fetch(`${this.#url}/v1/tokens`, {
          method: "POST", credentials: "omit", body,
          headers: { "Content-Type": "application/json", "X-Api-Key": this.#apiKey, "X-Client-Id": this.#clientId },
        });
        told = await answer.json();
      } catch {
        throw answer?.status === 403 ? FORBIDDEN : UNEXPECTED;
      }
      if (answer.ok && told?.tokenId) return { tokenId: told.tokenId };
      if (answer.status === 403) throw FORBIDDEN;
      throw !told || answer.ok || answer.status >= 500 ? UNEXPECTED : told;
    }

    /**
     * Tokenizes when the form is submitted, and submits it with a hidden `tokenId` instead of the four inputs. When that
     * fails the form gets the event `tokenizationError`, with the error in `detail`, and is not submitted.
     */
    async init() {
      const form = this.#element("form");
      if (!form) return;
      let isUnderWay = false;
      form.addEventListener("submit", async (event) => {
        event.preventDefault();
        if (isUnderWay) return;
        isUnderWay = true;
        try {
          const { tokenId } = await this.tokenize();
          for (const name of ["holderName", "cvv", "expirationDate", "number"]) this.#element(name).remove();
          const input = document.createElement("input");
          Object.assign(input, { type: "hidden", name: "tokenId", value: tokenId });
          form.appendChild(input);
          // A field of the form may be called `submit`.
          HTMLFormElement.prototype.submit.call(form);
        } catch (error) {
          isUnderWay = false;
          const detail = error instanceof Error ? UNEXPECTED : error;
          if (error instanceof Error) console.error(error);
          form.dispatchEvent(new CustomEvent("tokenizationError", { bubbles: true, detail }));
        }
      });
    }

    #element(name) {
      return document.querySelector(`[${this.#attributes[name]}]`);
    }
  }

  globalThis.RegenteTokenization = RegenteTokenization;
  if (typeof module === "object" && module.exports) module.exports = { RegenteTokenization };
})();
