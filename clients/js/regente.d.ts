/** The `id` of the page's element in which a field is shown. */
export type FieldContainer = "card-number" | "card-holder-name" | "card-expiration-date" | "card-cvv";

export interface FieldConfiguration {
  container: FieldContainer;
  placeholder?: string;
  /** The `type` of the input; `text` unless something else is said. */
  type?: "text" | "tel" | "password" | (string & {});
  /** Whether what is typed is put into groups; true unless something else is said. */
  needMask?: boolean;
  /** Whether the field tells its validity; true unless something else is said. */
  defaultValidation?: boolean;
}

/** Properties of text, each by its CSS name or in camel case, and keys such as `:focus` with further properties. */
export interface FieldStyles {
  [property: string]: string | number | FieldStyles | undefined;
}

export interface FieldsConfiguration {
  fields: {
    cardNumber?: FieldConfiguration;
    cardHolderName?: FieldConfiguration;
    cardExpirationDate?: FieldConfiguration;
    cardCvv?: FieldConfiguration;
  };
  styles?: FieldStyles;
  preventAutofill?: boolean;
}

export interface Options {
  config: FieldsConfiguration;
  /** The address of the service; where the script came from, unless it is a part of a bundle. */
  apiUrl?: string;
  /** The address of the fields, when they have an origin of their own; `/fields/` at `apiUrl` otherwise. */
  hostedFieldsUrl?: string;
  /** Where a session makes its tokens: `/v1/sessions/tokens`. */
  tokensPath?: "/v1/tokens" | "/v1/sessions/tokens";
  /** The brand in the names of classes and of the storage key. */
  vendor?: string;
  /** `pt-BR`, `en` or `es`; the page's language unless something else is said. */
  language?: string;
  sandbox?: boolean;
  debug?: boolean;
}

export interface Configurations {
  /** A client token with the scope `tokens`, or the public key of a session; never a secret key. */
  apiKey: string;
  clientId: string;
  options: Options;
}

export interface TokenizationError {
  type: "api_error" | "bad_request" | "invalid_request_error" | "card_declined" | (string & {});
  code: number;
  message: string;
  details?: string[];
  declinedCode?: string;
}

export type TokenizationResult =
  | { tokenId: string; error?: undefined }
  | { tokenId?: undefined; error: TokenizationError };

export interface CardType {
  niceType: string;
  type: string;
  patterns: (number | number[])[];
  gaps: number[];
  lengths: number[];
  code: { name: string; size: number };
}

export interface FieldEvent {
  field: FieldContainer;
  parentNode: Element;
}

export interface ValidityEvent extends FieldEvent {
  valid: boolean;
  empty: boolean;
  potentialValid: boolean;
  error?: { field: FieldContainer; message: string; code: "required" | "invalid" | "incomplete" | "expired" };
}

export interface CardTypeChangedEvent extends FieldEvent {
  card?: CardType;
}

export interface EventTypes {
  validity: ValidityEvent;
  cardTypeChanged: CardTypeChangedEvent;
  focus: FieldEvent;
  blur: FieldEvent;
  /** The field is there and can be typed into. */
  ready: FieldEvent;
}

/** Card fields in frames of the service. */
export declare class RegenteTokenization {
  constructor(configurations: Configurations);
  /** A token for the card; never rejects. After 30 seconds without an answer it is an `api_error`. */
  tokenize(): Promise<TokenizationResult>;
  /** A token for the security code of a stored card, from the field `card-cvv` alone. */
  tokenizeCvv(): Promise<TokenizationResult>;
  on<Type extends keyof EventTypes>(eventType: Type, handler: (event: EventTypes[Type]) => void): void;
  focus(container: FieldContainer): void;
  /** Gives the fields other styles. What is typed stays. */
  restyle(styles: FieldStyles): void;
  /** Takes the fields out of the page. */
  destroy(): void;
}

/** The names that pages in use have. */
export { RegenteTokenization as MalgaTokenization, RegenteTokenization as PlugTokenization };
