// Version 1 as a module.
import "./v1.js";

export const RegenteTokenization = globalThis.RegenteTokenization;
