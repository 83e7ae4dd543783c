// Signs the notifications on standard input, an array, as the provider does, with the package of the provider: each item gets
// its `hmacSignature`, and a notification without items a header. Prints an array of { body, header }.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const require = createRequire(import.meta.url);
const { hmacValidator: HmacValidator } = require('@adyen/api-library');

const validator = new HmacValidator();
const [key] = process.argv.slice(2);
const sent = readFileSync(0, 'utf8');
const message = JSON.parse(sent);
const answer = [];
for (const one of Array.isArray(message) ? message : [message]) {
    for (const { NotificationRequestItem: item } of one.notificationItems ?? []) {
        item.additionalData = { ...item.additionalData, hmacSignature: validator.calculateHmac(item, key) };
    }
    const body = JSON.stringify(one);
    answer.push({ body, header: one.notificationItems ? null : validator.calculateHmac(body, key) });
}
process.stdout.write(JSON.stringify(answer));
