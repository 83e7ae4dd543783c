#!/usr/bin/env python3
"""Makes openapi.json: the published description of the Checkout API, version 71, cut down to what the adapter uses.

    reduce.py CheckoutService-v71.json > openapi.json

Texts, examples and marks of the publisher are left out, and so are payment methods and actions that are not used.
Everything else stays as it is: what is required, which members there are, their types, lengths and words.
"""

import json
import sys

PATHS = [
    "/payments",
    "/payments/details",
    "/payments/{paymentPspReference}/captures",
    "/payments/{paymentPspReference}/cancels",
    "/payments/{paymentPspReference}/refunds",
    "/cancels",
    "/paymentMethods",
]
TEXTS = {"description", "example", "examples", "title", "externalDocs", "summary", "tags"}
METHODS = {"CardDetails", "PixDetails", "PaymentDetails"}
ACTIONS = {"CheckoutQrCodeAction", "CheckoutRedirectAction", "CheckoutThreeDS2Action", "CheckoutVoucherAction"}


def bare(node, names_are_data=False):
    if isinstance(node, list):
        return [bare(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {}
    for name, value in node.items():
        if not names_are_data and (name in TEXTS or name.startswith("x-")):
            continue
        kept[name] = bare(value, names_are_data=name == "properties" and not names_are_data)
    return kept


def only(schema, member, wanted):
    member = schema["properties"][member]
    member["oneOf"] = [one for one in member["oneOf"] if one["$ref"].split("/")[-1] in wanted]


def references(node, found):
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            found.add(node["$ref"])
        for value in node.values():
            references(value, found)
    elif isinstance(node, list):
        for value in node:
            references(value, found)


published = json.load(open(sys.argv[1], encoding="utf-8"))
schemas = published["components"]["schemas"]
only(schemas["PaymentRequest"], "paymentMethod", METHODS)
for answer in ["PaymentResponse", "PaymentDetailsResponse"]:
    only(schemas[answer], "action", ACTIONS)
published = {
    "openapi": published["openapi"],
    "info": {"title": "Checkout API, what the adapter uses of it", "version": published["info"]["version"]},
    "paths": bare({path: published["paths"][path] for path in PATHS}, names_are_data=True),
    "components": {
        kind: bare(published["components"][kind], names_are_data=True)
        for kind in ["schemas", "parameters", "headers", "securitySchemes"]
    },
}
kept = {"securitySchemes": published["components"]["securitySchemes"]}
waiting = set()
references(published["paths"], waiting)
while waiting:
    reference = waiting.pop()
    _, _, kind, name = reference.split("/")
    if name in kept.setdefault(kind, {}):
        continue
    kept[kind][name] = published["components"][kind][name]
    references(kept[kind][name], waiting)
published["components"] = {kind: dict(sorted(kept[kind].items())) for kind in sorted(kept)}
json.dump(published, sys.stdout, ensure_ascii=False, indent=1)
print()
