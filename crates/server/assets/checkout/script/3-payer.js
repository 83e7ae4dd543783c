// Who pays: what was typed, or a customer whom the shop has named in the address.
const BLANK = /^\s*$/;
const digits = (text) => text.replace(/\D/g, "");
const known = { id: new URLSearchParams(location.hash.slice(1)).get("customerId"), record: null, cards: [] };

// The check digits of a CPF and of a CNPJ, which may have letters.
function isDocument(text) {
  const signs = text.replace(/[^0-9A-Za-z]/g, "").toUpperCase();
  const sum = (upTo, highest) => {
    let total = 0;
    for (let place = upTo - 1, weight = 2; place >= 0; place--, weight = weight === highest ? 2 : weight + 1) {
      total += (signs.charCodeAt(place) - 48) * weight;
    }
    return total % 11 < 2 ? 0 : 11 - (total % 11);
  };
  const fits = (length, highest) => [length - 2, length - 1].every((place) => sum(place, highest) === Number(signs[place]));
  if (/^(.)\1*$/.test(signs)) return false;
  if (/^\d{11}$/.test(signs)) return fits(11, 12);
  return /^[0-9A-Z]{12}\d{2}$/.test(signs) && fits(14, 9);
}

// How a CPF, a CNPJ and a number of Brazil are written, while they are typed. What is sent has no marks, masked or not.
const inGroups = (signs, sizes, marks) => {
  let [written, place] = ["", 0];
  sizes.forEach((size, group) => {
    if (signs.length > place) written += (marks[group] ?? "") + signs.slice(place, place + size);
    place += size;
  });
  return written;
};
const MASKS = {
  document: {
    marks: /[^0-9A-Za-z]/g,
    // A longer one is wrong, and is said to be so.
    written(signs, text) {
      if (signs.length > 14) return text;
      if (/^\d{0,11}$/.test(signs)) return inGroups(signs, [3, 3, 3, 2], ["", ".", ".", "-"]);
      return inGroups(signs.toUpperCase(), [2, 3, 3, 4, 2], ["", ".", ".", "/", "-"]);
    },
  },
  phone: {
    marks: /\D/g,
    // One of another country is written as its people do.
    written(digits, text) {
      if (/^\s*\+/.test(text)) return text;
      if (digits.length < 3 || digits.length > 11) return digits;
      const first = digits[2] === "9" || digits.length === 11 ? 5 : 4;
      return inGroups(digits, [2, first, 4], ["(", ") ", "-"]);
    },
  },
};

// Masks what was typed or pasted, with the caret after the same character as before.
function maskTyped(input, { inputType, isComposing } = {}) {
  const known = MASKS[input.name];
  if (!known || isComposing) return;
  const { value: before, selectionStart } = input;
  const bare = (text) => text.replace(known.marks, "");
  const shown = known.written(bare(before), before);
  if (shown === before) return;
  let left = bare(before.slice(0, selectionStart)).length;
  let caret = selectionStart === before.length ? shown.length : 0;
  while (left && caret < shown.length) left -= bare(shown[caret++]).length;
  // Whoever deletes forwards comes past a mark, which stays.
  if (inputType === "deleteContentForward") while (caret < shown.length && !bare(shown[caret])) caret += 1;
  input.value = shown;
  if (document.activeElement === input) input.setSelectionRange(caret, caret);
}

const RULES = {
  email: (text) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text.trim()) || texts.email,
  document: (text) => isDocument(text) || texts.document,
  phone: (text) => digits(text).length >= 8 || texts.phone,
  zipCode: (text) => digits(text).length === 8 || texts.zipCode,
  state: (text) => /^[a-z]{2}$/i.test(text.trim()) || texts.state,
};

function problemOf(input) {
  if (BLANK.test(input.value)) return input.required ? texts.required : null;
  const found = RULES[input.name]?.(input.value);
  return found === undefined || found === true ? null : found;
}

const needsAddress = (type) => type === "boleto" || type === "drip";

// The inputs that count for a payment method.
function inputsFor(type) {
  const groups = [known.record ? null : $("payer-fields"), needsAddress(type) ? $("address") : null];
  return groups.flatMap((group) => (group ? [...group.querySelectorAll("input")] : []));
}

function payerProblems(type) {
  return inputsFor(type).flatMap((input) => {
    const problem = problemOf(input);
    mark(input.name, problem);
    return problem ? [input] : [];
  });
}

const typed = (name) => $(name)?.value.trim() ?? "";

function documentTyped() {
  const number = typed("document").replace(/[^0-9A-Za-z]/g, "").toUpperCase();
  return { type: number.length === 11 ? "cpf" : "cnpj", number };
}

function addressTyped() {
  return {
    street: typed("street"), streetNumber: typed("streetNumber"), complement: typed("complement"),
    district: typed("district"), city: typed("city"), state: typed("state").toUpperCase(),
    zipCode: digits(typed("zipCode")), country: "BR",
  };
}

// The source of a payment without a card.
function payerSource(type) {
  if (known.record) return { sourceType: "customer", customerId: known.id };
  const customer = { name: typed("name"), email: typed("email"), phoneNumber: digits(typed("phone")), document: documentTyped() };
  if (needsAddress(type)) customer.address = addressTyped();
  return { sourceType: "customer", customer };
}

function fraudAnalysis() {
  const { record } = known;
  const document = record ? record.document : documentTyped();
  const customer = {
    name: record ? record.name : typed("name"), email: record ? record.email : typed("email"),
    phone: record ? record.phoneNumber : digits(typed("phone")),
    identity: document?.number, identityType: document?.type?.toUpperCase(),
  };
  return { customer, cart: { items: session.items } };
}

async function readKnown() {
  if (!known.id || session.takesCard) return;
  const path = `/v1/sessions/customers/${encodeURIComponent(known.id)}`;
  const [record, cards] = await Promise.all([call("GET", path), call("GET", `${path}/cards`)]);
  if (!record?.ok) {
    notice(texts.customerGone);
    return;
  }
  known.record = record.body;
  known.cards = cards?.ok ? cards.body.filter(({ status }) => status !== "failed") : [];
  $("payer-fields").hidden = true;
  $("known-payer").hidden = false;
  $("known-payer").textContent = known.record.name;
}

for (const input of form.querySelectorAll("#payer input, #address input")) {
  input.addEventListener("blur", () => {
    maskTyped(input);
    if (!BLANK.test(input.value)) mark(input.name, problemOf(input));
  });
  input.addEventListener("input", (event) => {
    maskTyped(input, event);
    mark(input.name);
  });
}
