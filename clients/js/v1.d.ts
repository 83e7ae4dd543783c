/** Names of attributes by which the form and its inputs are found. */
export interface Elements {
  form?: string;
  holderName?: string;
  cvv?: string;
  expirationDate?: string;
  number?: string;
}

export interface Configurations {
  apiKey: string;
  clientId: string;
  options?: {
    elements?: Elements;
    /** The address of the service; where the script came from, unless it is a part of a bundle. */
    apiUrl?: string;
    /** The brand in the names of the attributes that `elements` does not name. */
    vendor?: string;
    sandbox?: boolean;
  };
}

/** What `tokenize` rejects with, and the `detail` of the event `tokenizationError`. */
export interface Failure {
  error: { type: string; code: number; message: string; details?: string[]; declinedCode?: string };
}

/** @deprecated The page sees the card. Use version 2, `@regente/browser`. */
export declare class RegenteTokenization {
  constructor(configurations: Configurations);
  /** @throws {Failure} */
  tokenize(): Promise<{ tokenId: string }>;
  init(): Promise<void>;
}

/** The names that pages in use have. */
export { RegenteTokenization as MalgaTokenization, RegenteTokenization as PlugTokenization };
