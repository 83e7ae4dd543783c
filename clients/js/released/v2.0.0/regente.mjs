// Version 2 as a module.
import "./regente.js";

export const RegenteTokenization = globalThis.RegenteTokenization;
