export * from "./regente.js";
