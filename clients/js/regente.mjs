// Version 2 as a module.
import "./regente.js";

export const { RegenteTokenization, MalgaTokenization, PlugTokenization } = globalThis;
RegenteTokenization.cameFrom(import.meta.url);
