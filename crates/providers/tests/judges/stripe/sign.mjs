// Signs the body on standard input as the provider signs notifications, with its official package: `sign.mjs SECRET SECONDS`.
import Stripe from 'stripe'

const [secret, seconds] = process.argv.slice(2)
const chunks = []
for await (const chunk of process.stdin) chunks.push(chunk)
const payload = Buffer.concat(chunks).toString('utf8')
const stripe = new Stripe('sk_test_unused')
const header = stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: Number(seconds) })
process.stdout.write(header)
