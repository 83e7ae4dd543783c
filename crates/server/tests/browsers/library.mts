// Compiles against the package's types, as a module.
import { MalgaTokenization, PlugTokenization, RegenteTokenization, type TokenizationResult } from "@regente/browser";
import { RegenteTokenization as Version1 } from "@regente/browser/v1";

export async function pay(): Promise<TokenizationResult> {
  const tokenization = new RegenteTokenization({
    apiKey: "k", clientId: "c",
    options: {
      apiUrl: "https://payments.example.com", sandbox: true,
      config: {
        fields: { cardNumber: { container: "card-number", needMask: true }, cardCvv: { container: "card-cvv", type: "tel" } },
        styles: { input: { color: "#000", fontSize: 16, ":focus": { color: "#00f" } } },
      },
    },
  });
  tokenization.on("cardTypeChanged", ({ card }) => console.log(card?.code.size));
  tokenization.on("validity", ({ error, parentNode }) => parentNode.setAttribute("title", error?.code ?? ""));
  // @ts-expect-error: there is no such event
  tokenization.on("cardTypeChange", () => {});
  // @ts-expect-error: there is no such place
  new RegenteTokenization({ apiKey: "k", clientId: "c", options: { config: { fields: { cardCvv: { container: "cvv" } } } } });
  const result = await tokenization.tokenize();
  if (result.error) throw new Error(result.error.message);
  const tokenId: string = result.tokenId;
  await tokenization.tokenizeCvv();
  await new Version1({ apiKey: "k", clientId: "c", options: { elements: { form: "data-form" } } }).init();
  return { tokenId };
}

export const named = (): RegenteTokenization[] => [MalgaTokenization, PlugTokenization].map(
  (Named) => new Named({ apiKey: "k", clientId: "c", options: { config: { fields: {} } } }),
);
console.log(typeof RegenteTokenization);
