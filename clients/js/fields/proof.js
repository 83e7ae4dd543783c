// The work that proves a person where a session asks for that. The browser looks for a number whose hash begins with zeros:
// that is nothing for one card, and much for a program that tries many. Nobody else takes part. The frame of a card's number and
// the hosted checkout have this file.

/** Milliseconds that the work takes without a pause. */
const SLICE_MS = 12;

// The constants of SHA-256: fractions of the roots of the first primes.
const primes = [];
for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime)) primes.push(n);
const fraction = (root) => ((root % 1) * 2 ** 32) | 0;
const ROUNDS = primes.map((prime) => fraction(Math.cbrt(prime)));
const START = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
const words = new Int32Array(64);
const turned = (word, by) => (word >>> by) | (word << (32 - by));

// The first word of the SHA-256 of a text of at most 55 ASCII characters. `crypto.subtle` would demand HTTPS.
function hashOf(text) {
  words.fill(0, 0, 16);
  for (let at = 0; at < text.length; at++) words[at >> 2] |= text.charCodeAt(at) << (24 - 8 * (at & 3));
  words[text.length >> 2] |= 0x80 << (24 - 8 * (text.length & 3));
  words[15] = 8 * text.length;
  for (let at = 16; at < 64; at++) {
    const [early, late] = [words[at - 15], words[at - 2]];
    words[at] = words[at - 16] + words[at - 7] + (turned(early, 7) ^ turned(early, 18) ^ (early >>> 3))
      + (turned(late, 17) ^ turned(late, 19) ^ (late >>> 10));
  }
  let [a, b, c, d, e, f, g, h] = START;
  for (let at = 0; at < 64; at++) {
    const one = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[at] + words[at]) | 0;
    const two = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  return (START[0] + a) | 0;
}

/** What the service takes as a proof for its challenge. The page stays usable meanwhile; `signal` ends the work. */
async function solve(challenge, signal) {
  const zeros = Number(challenge.split(".")[1]);
  let rest = performance.now() + SLICE_MS;
  for (let number = 0; ; number++) {
    const token = `${challenge}.${number.toString(36)}`;
    if (Math.clz32(hashOf(token)) >= zeros) return token;
    if (number % 64 || performance.now() < rest) continue;
    await new Promise((next) => setTimeout(next));
    if (signal?.aborted) throw new Error("ended");
    rest = performance.now() + SLICE_MS;
  }
}
