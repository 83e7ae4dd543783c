// Compiles against the package's types, as CommonJS.
import regente = require("@regente/browser");
import v1 = require("@regente/browser/v1");

export const make = (apiKey: string): regente.RegenteTokenization =>
  new regente.RegenteTokenization({ apiKey, clientId: "c", options: { config: { fields: {} } } });
export const old = (): v1.RegenteTokenization => new v1.RegenteTokenization({ apiKey: "k", clientId: "c" });

console.log(typeof regente.RegenteTokenization);
