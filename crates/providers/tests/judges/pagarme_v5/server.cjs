// A provider in memory, typed by the official package @pagarme/pagarme-nodejs-sdk: each request and each answer is
// checked against the package's own schemas, and whatever a schema does not know is a complaint. Cards and documents decide
// as the provider's published simulator does. Prints the port when it listens.
//
// GET  /judge/complaints      what did not fit a schema
// GET  /judge/seen            how often each operation had an effect
// GET  /judge/notifications   what webhooks would have been sent, oldest first
// POST /judge/{what}/{id}     pay, underpay, expire, chargeback, settle (a refund), finish (a processing charge)
// POST /judge/hide, /judge/show   whether searches find orders
// POST /judge/forget          idempotency keys, as after their 24 hours
// POST /judge/reset           everything but complaints
'use strict';
const http = require('node:http');
const path = require('node:path');
const { isDeepStrictEqual } = require('node:util');
const { validateAndMap, validateAndUnmap } = require('@apimatic/schema');

const models = path.join(path.dirname(require.resolve('@pagarme/pagarme-nodejs-sdk')), 'models');
const schema = (name) => require(path.join(models, `${name}.js`))[`${name}Schema`];
const REQUESTS = {
  order: schema('createOrderRequest'),
  capture: schema('createCaptureChargeRequest'),
  cancel: schema('createCancelChargeRequest'),
  metadata: schema('updateMetadataRequest'),
};
const ANSWERS = {
  order: schema('getOrderResponse'),
  orders: schema('listOrderResponse'),
  charge: schema('getChargeResponse'),
  charges: schema('listChargesResponse'),
};

const orders = [];
const charges = new Map();
const answered = new Map();
const complaints = [];
const notifications = [];
const seen = { orders: 0, captures: 0, cancels: 0 };
let hidden = false;
let count = 0;
const id = (prefix) => `${prefix}_${String(++count).padStart(16, '0')}`;
const NOW = '2026-01-01T00:00:00Z';

// What the package demands and the documentation calls optional. Only these are filled in before a request is checked.
function withDefaults(name, sent) {
  const body = structuredClone(sent);
  if (name !== 'order') return body;
  body.customer = { code: '', metadata: {}, ...body.customer };
  body.items = body.items?.map((item) => ({ category: '', ...item }));
  for (const payment of body.payments ?? []) {
    if (payment.boleto) {
      payment.boleto = { retries: 0, document_number: '', statement_descriptor: '', ...payment.boleto };
    }
    // Documented under this name; the package has `recurrency_cycle`.
    if (payment.credit_card) delete payment.credit_card.recurrence_cycle;
  }
  return body;
}

const plain = (value) => JSON.parse(JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? Number(part) : part)));

// The schema takes it, and knows every member of it.
function check(what, value, known) {
  const mapped = validateAndMap(value, known);
  if (mapped.errors) {
    complaints.push({ what, problems: mapped.errors.map((error) => error.message) });
    return false;
  }
  const back = validateAndUnmap(mapped.result, known);
  if (back.errors || !isDeepStrictEqual(plain(back.result), plain(value))) {
    complaints.push({ what, problems: ['a member is not known'], value, back: back.result && plain(back.result) });
    return false;
  }
  return true;
}

class Refused extends Error {
  constructor(status, message, errors) {
    super(message);
    Object.assign(this, { status, errors });
  }
}

const REFUSED = { gateway_response: { code: '200', errors: [] }, success: false, status: 'not_authorized' };

function cardTransaction(payment, method, document) {
  const sent = payment.credit_card ?? payment.voucher;
  const card = sent.card ?? sent.Card;
  const base = {
    id: id('tran'), transaction_type: method, amount: payment.amount, success: true,
    acquirer_name: 'simulator', acquirer_tid: id('tid'), acquirer_nsu: id('nsu'), acquirer_auth_code: '247',
    acquirer_message: 'Transação aprovada com sucesso', acquirer_return_code: '00',
    gateway_response: { code: '200', errors: [] }, created_at: NOW, updated_at: NOW, metadata: {},
    card: { id: id('card'), last_four_digits: card.number.slice(-4), first_six_digits: card.number.slice(0, 6), brand: 'Visa' },
  };
  if (method === 'credit_card') Object.assign(base, { brand_id: 'network-7', installments: sent.installments });
  if (document === '11111111111') {
    return { ...base, ...REFUSED, acquirer_return_code: null, acquirer_message: null,
      antifraud_response: { status: 'reproved', return_code: '4', provider_name: 'simulator', score: 'high' } };
  }
  if (card.cvv?.startsWith('6')) {
    return { ...base, ...REFUSED, acquirer_return_code: card.cvv.slice(1), acquirer_message: 'Transação não autorizada' };
  }
  if (card.number === '4000000000000036') return { ...base, success: null, status: 'analyzing' };
  const waits = sent.operation_type === 'auth_only';
  return { ...base, status: waits ? 'authorized_pending_capture' : 'captured', operation_type: sent.operation_type ?? 'auth_and_capture' };
}

function payerTransaction(payment, method) {
  const base = {
    id: id('tran'), transaction_type: method, amount: payment.amount, success: true, created_at: NOW, updated_at: NOW,
    gateway_response: { code: '200', errors: [] }, metadata: {},
  };
  if (method === 'pix') {
    return { ...base, status: 'waiting_payment', qr_code: `00020101021226-${base.id}`, qr_code_url: `https://api.test/qr/${base.id}`,
      expires_at: new Date(Date.parse(NOW) + payment.pix.expires_in * 1000).toISOString() };
  }
  const { due_at, instructions, interest, fine } = payment.boleto;
  return { ...base, status: 'generated', line: '34191101213456788005871234570001616670000012345', barcode: `https://api.test/${base.id}/barcode`,
    pdf: `https://api.test/${base.id}/pdf`, url: `https://api.test/${base.id}`, bank: '341', nosso_numero: '12345678', due_at,
    ...(instructions && { instructions }), ...(interest && { interest }), ...(fine && { fine }) };
}

const STATUS = {
  captured: 'paid', authorized_pending_capture: 'pending', waiting_payment: 'pending', generated: 'pending',
  not_authorized: 'failed', analyzing: 'processing',
};

function order(body) {
  if (body.customer.email === undefined) throw new Refused(422, 'The request is invalid.', { 'order.customer.email': ['The email field is required.'] });
  const [payment] = body.payments;
  const method = payment.payment_method;
  const number = (payment.credit_card?.card ?? payment.voucher?.Card)?.number;
  if (number?.endsWith('9995')) {
    throw new Refused(422, 'The request is invalid.', { 'order.payments[0].credit_card.card.number': [`${number} is not valid.`] });
  }
  seen.orders += 1;
  const isCard = method === 'credit_card' || method === 'voucher';
  const transaction = isCard ? cardTransaction(payment, method, body.customer.document) : payerTransaction(payment, method);
  const status = STATUS[transaction.status];
  const charge = {
    id: id('ch'), code: body.code, amount: payment.amount, status, currency: 'BRL', payment_method: method,
    created_at: NOW, updated_at: NOW, last_transaction: transaction, metadata: {},
    ...(status === 'paid' && { paid_at: NOW, paid_amount: payment.amount }),
  };
  charges.set(charge.id, charge);
  const made = { id: id('or'), code: body.code, amount: payment.amount, currency: 'BRL', closed: true, status: status === 'processing' ? 'pending' : status,
    created_at: NOW, updated_at: NOW, metadata: body.metadata, charges: [charge] };
  orders.push(made);
  notify(charge, { paid: 'charge.paid', failed: 'charge.payment_failed', pending: 'charge.pending', processing: 'charge.processing' }[status]);
  return made;
}

function transact(charge, status, amount, more = {}) {
  const { card, ...last } = charge.last_transaction;
  charge.last_transaction = { ...last, id: id('tran'), status, amount, success: true, ...more };
}

function capture(charge, body) {
  const amount = body.amount ?? charge.amount;
  if (charge.status !== 'pending' || charge.last_transaction.status !== 'authorized_pending_capture') {
    throw new Refused(412, 'This charge can not be captured.');
  }
  if (amount > charge.amount) throw new Refused(412, 'The amount is more than was authorized.');
  seen.captures += 1;
  transact(charge, amount < charge.amount ? 'partial_capture' : 'captured', amount, { operation_type: 'capture' });
  Object.assign(charge, { code: body.code, status: 'paid', paid_at: NOW, paid_amount: amount });
  notify(charge, 'charge.paid');
  return charge;
}

function cancel(charge, body) {
  const total = charge.paid_amount ?? charge.amount;
  const canceled = charge.canceled_amount ?? 0;
  const amount = body.amount ?? total - canceled;
  if (!['pending', 'paid', 'overpaid', 'underpaid'].includes(charge.status)) throw new Refused(412, 'This charge can not be canceled.');
  if (charge.last_transaction.status === 'pending_refund') throw new Refused(412, 'A refund is under way.');
  if (amount > total - canceled) throw new Refused(412, 'The amount is more than is left.');
  seen.cancels += 1;
  const wasPaid = charge.paid_amount !== undefined;
  if (charge.payment_method === 'pix' && wasPaid) {
    transact(charge, 'pending_refund', amount);
    return charge;
  }
  given(charge, amount, wasPaid);
  return charge;
}

function given(charge, amount, wasPaid) {
  const total = charge.paid_amount ?? charge.amount;
  charge.canceled_amount = (charge.canceled_amount ?? 0) + amount;
  const whole = charge.canceled_amount === total;
  const status = wasPaid ? (whole ? 'refunded' : 'partial_refunded') : whole ? 'voided' : 'partial_void';
  transact(charge, status, amount);
  if (whole) Object.assign(charge, { status: 'canceled', canceled_at: NOW });
  notify(charge, whole ? 'charge.refunded' : 'charge.partial_canceled');
}

// What becomes of a charge without a call of the merchant.
const EVENTS = {
  pay: (charge) => paid(charge, charge.amount, 'paid'),
  underpay: (charge) => paid(charge, charge.amount - 100, 'underpaid'),
  expire: (charge) => {
    transact(charge, 'failed', charge.amount, { success: false });
    charge.status = 'failed';
    notify(charge, 'charge.payment_failed');
  },
  chargeback: (charge) => {
    charge.status = 'chargedback';
    notify(charge, 'charge.chargedback');
  },
  settle: (charge) => given(charge, charge.last_transaction.amount, true),
  finish: (charge) => {
    transact(charge, 'captured', charge.amount);
    Object.assign(charge, { status: 'paid', paid_at: NOW, paid_amount: charge.amount });
    notify(charge, 'charge.antifraud_approved');
  },
};

function paid(charge, amount, status) {
  transact(charge, 'paid', amount, charge.payment_method === 'pix' ? { end_to_end_id: 'E2E7' } : {});
  Object.assign(charge, { status, paid_at: NOW, paid_amount: amount });
  notify(charge, `charge.${status}`);
}

function notify(charge, type) {
  check(`notification ${type}`, charge, ANSWERS.charge);
  const body = { id: id('hook'), account: { id: 'acc_1', name: 'Test' }, type, created_at: '2026-01-01T00:00:01', data: structuredClone(charge) };
  notifications.push(body);
}

function control(request, [what, of]) {
  if (request.method === 'GET') return { complaints, seen, notifications }[what];
  if (what === 'forget') answered.clear();
  else if (what === 'reset') reset();
  else if (what === 'hide' || what === 'show') hidden = what === 'hide';
  else EVENTS[what](charges.get(of));
  return {};
}

function reset() {
  orders.length = notifications.length = 0;
  for (const map of [charges, answered]) map.clear();
  Object.assign(seen, { orders: 0, captures: 0, cancels: 0 });
}

function known(charge_id) {
  const charge = charges.get(charge_id);
  if (!charge) throw new Refused(404, 'Charge not found.');
  return charge;
}

function sent(name, body) {
  if (!check(`request ${name}`, withDefaults(name, body), REQUESTS[name])) throw new Refused(422, 'The request is invalid.', {});
  return body;
}

// [name of the answer's schema, answer]
function operate({ method }, [of, charge_id, what], query, body) {
  const operation = `${method} ${of}${charge_id ? '/id' : ''}${what ? `/${what}` : ''}`.toLowerCase();
  switch (operation) {
    case 'post orders': return ['order', order(sent('order', body))];
    case 'get orders': {
      // The search ignores case, as that of many databases.
      const code = query.get('code')?.toLowerCase();
      return ['orders', { data: hidden ? [] : orders.filter((one) => one.code.toLowerCase() === code), paging: { total: orders.length } }];
    }
    case 'get charges': return ['charges', { data: [...charges.values()].slice(0, Number(query.get('size'))), paging: { total: charges.size } }];
    case 'get charges/id': return ['charge', known(charge_id)];
    case 'post charges/id/capture': return ['charge', capture(known(charge_id), sent('capture', body))];
    case 'delete charges/id': return ['charge', cancel(known(charge_id), sent('cancel', body))];
    case 'patch charges/id/metadata': {
      const charge = known(charge_id);
      charge.metadata = sent('metadata', body).metadata;
      return ['charge', charge];
    }
    default: throw new Refused(404, 'No such operation.');
  }
}

function admit(request) {
  const [scheme, pair = ''] = (request.headers.authorization ?? '').split(' ');
  const [user, password] = Buffer.from(pair, 'base64').toString().split(':');
  if (scheme !== 'Basic' || password !== '' || user === 'sk_test_wrong') throw new Refused(401, 'Authorization has been denied for this request.');
  if (user === 'sk_test_blocked') throw new Refused(403, 'Blocked.');
}

function answer(request, url, body) {
  const [, core, v5, ...parts] = url.pathname.split('/');
  if (core === 'judge') return [200, control(request, [v5, ...parts])];
  const key = request.headers['idempotency-key'];
  const once = key && `${request.method} ${url.pathname} ${key}`;
  try {
    admit(request);
    if (request.method !== 'GET' && request.method !== 'PATCH' && !key) throw new Refused(422, 'An idempotency key is missed.');
    if (answered.has(once)) return answered.get(once);
    const [name, made] = operate(request, parts, url.searchParams, body);
    check(`answer ${name}`, plain(made), ANSWERS[name]);
    const done = [200, structuredClone(made)];
    if (once) answered.set(once, done);
    return done;
  } catch (refused) {
    if (!(refused instanceof Refused)) throw refused;
    const { status, message, errors } = refused;
    // The provider repeats the request.
    return [status, { message, ...(errors && { errors, request: body }) }];
  }
}

http.createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const text = Buffer.concat(chunks).toString();
    let result;
    try {
      result = answer(request, new URL(request.url, 'http://judge'), text ? JSON.parse(text) : {});
    } catch (error) {
      complaints.push({ what: 'judge', problems: [String(error.stack)] });
      result = [500, { message: 'Internal error.' }];
    }
    const bytes = Buffer.from(JSON.stringify(result[1]));
    response.writeHead(result[0], { 'content-type': 'application/json', 'content-length': bytes.length });
    response.end(bytes);
  });
}).listen(0, '127.0.0.1', function () {
  process.stdout.write(`${this.address().port}\n`);
});
// It ends with the test that started it.
process.stdin.resume().on('end', () => process.exit(0));
