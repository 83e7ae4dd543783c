// Runs stripe-stateful-mock behind a free port, which it prints. The mock has charges and refunds, and no payments: a
// payment is turned into a charge here, and the charge of an answer into a payment. What a charge costs, refuses, keeps for
// an idempotency key and gives back is the mock's own; its errors pass unchanged.
import { createServer } from 'node:http'
import { createRequire } from 'node:module'

const { createExpressApp } = createRequire(import.meta.url)('stripe-stateful-mock')

// The mock charges tokens; these are the numbers of the provider's test cards.
const TOKENS = {
    4242424242424242: 'tok_visa',
    4000000000000002: 'tok_chargeDeclined',
    4000000000009995: 'tok_chargeDeclinedInsufficientFunds',
    4100000000000019: 'tok_chargeDeclinedFraudulent',
    4000000000000127: 'tok_chargeDeclinedIncorrectCvc',
    4000000000000069: 'tok_chargeDeclinedExpiredCard',
    4000000000000119: 'tok_chargeDeclinedProcessingError',
    // No test cards: the mock has tokens for these answers.
    4000000000004293: 'tok_429',
    4000000000005001: 'tok_500',
}

const listening = app => new Promise(done => { const server = app.listen(0, '127.0.0.1', () => done(server.address().port)) })
const mock = `http://127.0.0.1:${await listening(createExpressApp())}`

const chargeOf = id => id.replace(/^pi_/, 'ch_')
// The mock's captures take no metadata.
const ofCaptures = new Map()
const intentOf = charge => ({
    id: charge.id.replace(/^ch_/, 'pi_'),
    object: 'payment_intent',
    amount: charge.amount,
    amount_capturable: charge.captured ? 0 : charge.amount - charge.amount_refunded,
    currency: charge.currency,
    status: charge.captured ? 'succeeded' : charge.refunded ? 'canceled' : 'requires_capture',
    metadata: { ...charge.metadata, ...ofCaptures.get(charge.id) },
    latest_charge: charge,
})
const metadata = form => [...form].filter(([name]) => name.startsWith('metadata['))

async function answer(request, path, query, form) {
    const ask = async (method, target, members) => {
        const headers = { authorization: request.headers.authorization ?? '' }
        if (request.headers['idempotency-key'] && method === 'POST') {
            headers['idempotency-key'] = request.headers['idempotency-key']
        }
        const body = method === 'POST' ? new URLSearchParams(members ?? []) : undefined
        const answered = await fetch(mock + target, { method, headers, body })
        return { status: answered.status, replayed: answered.headers.get('idempotent-replayed'), body: await answered.json() }
    }
    const asIntent = told => told.status === 200 ? { ...told, body: intentOf(told.body) } : told
    const [, one] = path.match(/^\/v1\/payment_intents\/(pi_\w+)/) ?? []
    if (request.method === 'POST' && path === '/v1/payment_intents') {
        const number = form.get('payment_method_data[card][number]')
        return asIntent(await ask('POST', '/v1/charges', [
            ['amount', form.get('amount')], ['currency', form.get('currency')], ['source', TOKENS[number] ?? 'tok_visa'],
            ['capture', String(form.get('capture_method') !== 'manual')], ...metadata(form),
        ]))
    }
    if (one && request.method === 'GET') return asIntent(await ask('GET', `/v1/charges/${chargeOf(one)}`))
    if (one && path.endsWith('/capture')) {
        const captured = await ask('POST', `/v1/charges/${chargeOf(one)}/capture`, [['amount', form.get('amount_to_capture')]])
        if (captured.status === 200) {
            const members = metadata(form).map(([name, value]) => [name.slice('metadata['.length, -1), value])
            ofCaptures.set(chargeOf(one), Object.fromEntries(members))
        }
        return asIntent(captured)
    }
    if (one && path.endsWith('/cancel')) {
        const released = await ask('POST', '/v1/refunds', [['charge', chargeOf(one)]])
        return released.status === 200 ? asIntent(await ask('GET', `/v1/charges/${chargeOf(one)}`)) : released
    }
    if (path === '/v1/refunds' && request.method === 'POST') {
        return ask('POST', '/v1/refunds', [
            ['charge', chargeOf(form.get('payment_intent'))], ['amount', form.get('amount')], ...metadata(form),
        ])
    }
    if (path === '/v1/refunds') return ask('GET', `/v1/refunds?charge=${chargeOf(query.get('payment_intent'))}&limit=100`)
    return ask(request.method, path, [...form])
}

const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const { pathname, searchParams } = new URL(request.url, mock)
    const told = await answer(request, pathname, searchParams, new URLSearchParams(Buffer.concat(chunks).toString()))
    response.writeHead(told.status, { 'content-type': 'application/json', connection: 'close' })
    response.end(JSON.stringify(told.body))
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
