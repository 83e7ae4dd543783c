#!/usr/bin/env python3
"""Makes tests/it/adyen/recorded/webhooks.json: every example of the published description of the notifications.

    examples.py Webhooks-v1.json > webhooks.json
"""

import json
import sys

published = json.load(open(sys.argv[1], encoding="utf-8"))
examples = []
for operations in (published.get("webhooks") or published["paths"]).values():
    for operation in operations.values():
        for content in operation["requestBody"]["content"].values():
            for example in content.get("examples", {}).values():
                if "$ref" in example:
                    example = published["components"]["examples"][example["$ref"].split("/")[-1]]
                examples.append(example["value"])
json.dump(examples, sys.stdout, ensure_ascii=False, indent=1)
print()
