// What is known of cards: brands, check digits, and for each kind of field how it is masked, sent and checked. The other half of
// this script, `fields.js`, knows the page around it.

const brand = (niceType, type, lengths, gaps, code, patterns) => ({
  niceType, type, patterns, gaps, lengths, code: { name: code, size: code === "CID" && type !== "discover" ? 4 : 3 },
});
const FOURS = [4, 8, 12];
/** The ranges of the service; the longest that fits wins. A range is two prefixes of the same length. */
const BRANDS = [
  brand("Visa", "visa", [16, 18, 19], FOURS, "CVV", [4]),
  brand("Mastercard", "mastercard", [16], FOURS, "CVC", [[51, 55], [2221, 2720]]),
  brand("American Express", "american-express", [15], [4, 10], "CID", [34, 37]),
  brand("Diners Club", "diners-club", [14, 16, 19], [4, 10], "CVV", [[300, 305], 3095, 36, [38, 39]]),
  brand("Discover", "discover", [16, 19], FOURS, "CID", [6011, [644, 649], 65, [622126, 622925]]),
  brand("JCB", "jcb", [16, 17, 18, 19], FOURS, "CVV", [[3528, 3589]]),
  brand("Elo", "elo", [16], FOURS, "CVE", [
    [401178, 401179], 431274, 438935, 451416, 457393, [457631, 457632], 504175, [506699, 506778], [509000, 509999],
    627780, 636297, 636368, [650031, 650033], [650035, 650051], [650405, 650439], [650485, 650538], [650541, 650598],
    [650700, 650718], [650720, 650727], [650901, 650978], [651652, 651679], [655000, 655019], [655021, 655058],
  ]),
  brand("Hipercard", "hipercard", [13, 16, 19], FOURS, "CVC", [
    606282, 384100, 384140, 384160, 637095, 637568, 637599, 637609, 637612,
  ]),
];
const ANY_LENGTHS = [13, 14, 15, 16, 17, 18, 19];
/** A longer number than this one is rare: one with a wrong check digit is wrong, not unfinished. */
const USUAL_DIGITS = 16;

function brandOf(digits) {
  let best;
  let longest = 0;
  for (const candidate of BRANDS) {
    for (const pattern of candidate.patterns) {
      const [first, last] = Array.isArray(pattern) ? pattern : [pattern, pattern];
      const { length } = String(first);
      const prefix = Number(digits.slice(0, length));
      if (digits.length >= length && length > longest && prefix >= first && prefix <= last) {
        [best, longest] = [candidate, length];
      }
    }
  }
  return best;
}

function passesLuhn(digits) {
  const sum = [...digits].reverse().reduce((total, digit, place) => {
    const product = Number(digit) * (place % 2 + 1);
    return total + (product > 9 ? product - 9 : product);
  }, 0);
  return sum % 10 === 0;
}

const digitsOf = (text) => text.replace(/\D/g, "");
const RIGHT = { valid: true };
const wrong = (code) => ({ valid: false, code });
/** Not right, and may become so by what is typed next. */
const open = (code) => ({ valid: false, code, isOpen: true });

/** The digits of a security code of the card's brand, once the frame of the number has told it. */
const facts = { codeDigits: undefined };

/**
 * What the kinds of fields differ in. `masked` is what is shown of the typed text, `value` what the API takes, `check` what is
 * to be said of it.
 */
const KINDS = {
  "card-number": {
    member: "cardNumber", autocomplete: "cc-number", separator: " ",
    masked(text) {
      const digits = digitsOf(text);
      const gaps = brandOf(digits)?.gaps ?? FOURS;
      const shown = digits.slice(0, Math.max(...(brandOf(digits)?.lengths ?? ANY_LENGTHS)));
      return [...shown].map((digit, place) => (gaps.includes(place) ? ` ${digit}` : digit)).join("");
    },
    value: digitsOf,
    check(digits) {
      const lengths = brandOf(digits)?.lengths ?? ANY_LENGTHS;
      const isRight = passesLuhn(digits);
      if (lengths.includes(digits.length) && isRight) return RIGHT;
      const most = Math.max(...lengths);
      if (digits.length >= most || (digits.length >= USUAL_DIGITS && !isRight)) return wrong("invalid");
      return digits.length < Math.min(...lengths) ? open("incomplete") : open("invalid");
    },
  },
  "card-holder-name": {
    member: "cardHolderName", autocomplete: "cc-name",
    masked: (text) => text,
    value: (text) => text,
    // A number in the field of the name would be kept as a name.
    check: (text) => (digitsOf(text).length >= 12 ? wrong("invalid") : RIGHT),
  },
  "card-expiration-date": {
    member: "cardExpirationDate", autocomplete: "cc-exp", separator: "/",
    masked(text, isTyping) {
      let digits = digitsOf(text);
      if (/^([2-9]|1\/)/.test(text.trim())) digits = `0${digits}`;
      digits = digits.slice(0, digits.slice(2, 4) === "20" ? 6 : 4);
      return digits.length > 2 || (digits.length === 2 && isTyping) ? `${digits.slice(0, 2)}/${digits.slice(2)}` : digits;
    },
    value(text) {
      const { month, year } = dateOf(text);
      return year ? `${month}/${year}` : text;
    },
    check(value, text) {
      const { digits, month, year } = dateOf(text);
      if (digits.length >= 2 && (Number(month) < 1 || Number(month) > 12)) return wrong("invalid");
      if (!year) return digits.length < 6 ? open("incomplete") : wrong("invalid");
      const today = new Date();
      const isPast = Number(year) * 12 + Number(month) - 1 < today.getFullYear() * 12 + today.getMonth();
      // `12/20` may become `12/2030`.
      return isPast ? { ...wrong("expired"), isOpen: digits.endsWith("20") && digits.length === 4 } : RIGHT;
    },
  },
  "card-cvv": {
    member: "cardCvv", autocomplete: "cc-csc",
    masked: (text) => digitsOf(text).slice(0, facts.codeDigits ?? 4),
    value: digitsOf,
    check(digits) {
      if (facts.codeDigits ? digits.length === facts.codeDigits : digits.length === 3 || digits.length === 4) return RIGHT;
      return digits.length < (facts.codeDigits ?? 3) ? open("incomplete") : wrong("invalid");
    },
  },
};

/** Month and year of `MM/YY`, `MM/YYYY`, or the same without a slash. */
function dateOf(text) {
  const digits = digitsOf(text);
  const end = digits.slice(2);
  const year = end.length === 4 ? end : end.length === 2 ? `20${end}` : undefined;
  return { digits, month: digits.slice(0, 2), year };
}
