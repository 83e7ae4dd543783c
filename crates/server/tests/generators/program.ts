// Uses the types that openapi-typescript makes of openapi.json: a document without them does not compile here.

import type { components, operations, webhooks } from "./types";

type Schemas = components["schemas"];

// What is missing, misspelt or of another variant is refused.
export const charge: Schemas["NewCharge"] = {
  merchantId: "7f8870a2-71c9-4ef0-a531-82000e00b7e1",
  amount: 150,
  currency: "BRL",
  paymentMethod: { paymentType: "credit", installments: 2, recurrence: "initial" },
  paymentSource: { sourceType: "token", tokenId: "cc0b1e41-2936-45c5-947f-93995ffcdc00" },
};
// @ts-expect-error a currency that is not in the list
export const currency: Schemas["NewCharge"]["currency"] = "XXX";
// @ts-expect-error a token needs its id
export const source: Schemas["NewPaymentSource"] = { sourceType: "token" };
// @ts-expect-error installments are of credit cards
export const method: Schemas["PaymentMethod"] = { paymentType: "voucher", installments: 2 };
// @ts-expect-error an event that nobody announces
export const webhook: Schemas["NewWebhook"]["event"] = "transaction.paid";

// A word that is added or taken away does not pass unseen.
export function isDecided(status: Schemas["ChargeStatus"]): boolean {
  switch (status) {
    case "pending":
    case "capture_pending":
    case "refund_pending":
      return false;
    case "pre_authorized":
    case "authorized":
    case "failed":
    case "canceled":
    case "voided":
    case "charged_back":
      return true;
    default: {
      const unknown: never = status;
      return unknown;
    }
  }
}

// The tag tells which members there are.
export function describe(event: Schemas["Event"]): string {
  switch (event.object) {
    case "transaction": {
      const refusal = event.data.transactionRequests[0]?.providerError;
      const code: Schemas["DeclinedCode"] | null | undefined = refusal?.declinedCode;
      return `${event.event}: ${event.data.status} ${code ?? ""}`;
    }
    case "purchase":
      return `${event.event}: ${event.data.payments.map((payment) => payment.status).join()}`;
    default:
      return event.event;
  }
}

// What may be left out is absent and not null; what is null is always there.
export function nsu(charge: Schemas["Charge"]): string | null {
  const recurrence: Schemas["Recurrence"] | undefined =
    charge.paymentMethod.paymentType === "credit" ? charge.paymentMethod.recurrence : undefined;
  return recurrence === undefined ? null : (charge.transactionRequests[0]?.authorizationNsu ?? null);
}

export type Authorized = webhooks["transaction.authorized"]["post"]["requestBody"]["content"]["application/json"];
export const filter: operations["listCharges"]["parameters"]["query"] = {
  status: ["authorized", "failed"],
  providerType: ["SANDBOX"],
  sort: "ASC",
};
