// A merchant's receiver that knows nothing of Regente but what docs/webhooks.md says. It verifies with packages of others,
// and answers 200 to what is genuine and 401, with the reason, to what is not.
//
//   /standard    the Standard Webhooks headers: `standardwebhooks` reads id, date and signatures, and refuses old dates;
//                it knows shared secrets (v1) alone, so the Ed25519 signature (v1a) itself is verified by `@noble/ed25519`
//   /contract    the dated header, by `@noble/ed25519`
//   /documented  the example of the documentation, in the module that the first argument names
//
// PUT /trust { "keys": [PEM], "now": milliseconds } says which keys are trusted, and what time it is.

import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";

import * as ed from "@noble/ed25519";
import { Webhook } from "standardwebhooks";

const { isGenuine } = await import(pathToFileURL(process.argv[2]));
ed.etc.sha512Sync = (...parts) => createHash("sha512").update(Buffer.concat(parts)).digest();

let keys = [];
let now = 0;
// `standardwebhooks` asks it for the time.
Date.now = () => now;

/** The 32 bytes at the end of the key's encoding. */
const raw = (pem) => Buffer.from(pem.split("-----")[2], "base64").subarray(-32);

const verifies = (signature, message) =>
  signature.length === 64 && keys.some((pem) => ed.verify(signature, message, raw(pem)));

/** A webhook whose signatures are of the asymmetric kind; everything else is as the package does it. */
class AsymmetricWebhook extends Webhook {
  constructor(signatures) {
    super("whsec_" + Buffer.from("not used").toString("base64"));
    this.signatures = signatures;
  }

  /** The package compares what is signed here with what came. */
  sign(id, date, body) {
    const message = Buffer.from(`${id}.${Math.floor(date.getTime() / 1000)}.${body}`);
    const genuine = this.signatures.find((text) => verifies(Buffer.from(text, "base64"), message));
    return `v1,${genuine ?? "none of them"}`;
  }
}

const ways = {
  "/standard": (headers, body) => {
    const entries = (headers["webhook-signature"] ?? "").split(" ").map((entry) => entry.split(","));
    const asymmetric = entries.filter(([version]) => version === "v1a").map(([, text]) => text);
    const signatures = asymmetric.map((text) => `v1,${text}`).join(" ");
    new AsymmetricWebhook(asymmetric).verify(body, { ...headers, "webhook-signature": signatures });
  },
  "/contract": (headers, body) => {
    const date = headers["x-plug-date"];
    if (!(Math.abs(now - Number(date)) <= 5 * 60 * 1000)) throw new Error("the date is too old or too new");
    const message = Buffer.concat([Buffer.from(`${date}\n`), body]);
    if (!verifies(Buffer.from(headers["x-plug-signature"] ?? "", "hex"), message)) throw new Error("no key verifies it");
  },
  "/documented": (headers, body) => {
    if (!isGenuine(headers, body, keys, now)) throw new Error("the example says no");
  },
};

const server = createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const body = Buffer.concat(parts);
  if (request.url === "/trust") {
    ({ keys, now } = JSON.parse(body));
    return response.end();
  }
  try {
    ways[request.url](request.headers, body);
    response.writeHead(200).end("genuine");
  } catch (error) {
    response.writeHead(401).end(error.message);
  }
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
