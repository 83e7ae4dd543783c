"""Runs localstripe on a free port, which it prints.

localstripe refuses what it does not know. Here it is given the published parameters that it lacks: card data when a
payment or a check is made (its own PaymentMethod takes them), the list of payments by time, and the metadata of a capture.
A challenge gets an address. States, refusals, amounts and refunds are localstripe's own.
"""

import asyncio
import sys

from aiohttp import web
from localstripe import resources

PaymentIntent = resources.PaymentIntent
PaymentMethod = resources.PaymentMethod
SetupIntent = resources.SetupIntent

# Published parameters without a meaning for localstripe.
UNKNOWN = ("description", "statement_descriptor_suffix", "error_on_requires_action", "setup_future_usage")

create_payment = PaymentIntent._api_create.__func__
capture_payment = PaymentIntent._api_capture.__func__
list_all = resources.StripeObject._api_list_all.__func__
create_setup = SetupIntent._api_create.__func__


def payment_method(data):
    return PaymentMethod(**data).id


def create(cls, payment_method_data=None, return_url=None, **data):
    for name in UNKNOWN:
        data.pop(name, None)
    if payment_method_data is not None:
        data["payment_method"] = payment_method(payment_method_data)
    payment = create_payment(cls, **data)
    if payment.next_action is not None:
        url = f"https://hooks.example/{payment.id}"
        redirect = {"url": url, "return_url": return_url}
        payment.next_action = {"type": "redirect_to_url", "redirect_to_url": redirect}
    return payment


def capture(cls, id, metadata=None, **data):
    payment = capture_payment(cls, id, **data)
    payment.metadata.update(metadata or {})
    return payment


def list_payments(cls, url, created=None, limit=None, starting_after=None):
    payments = list_all(cls, url, limit=limit, starting_after=starting_after)
    first, last = (int((created or {}).get(bound, at)) for bound, at in (("gte", 0), ("lte", sys.maxsize)))
    payments._list = [payment for payment in reversed(payments._list) if first <= payment.created <= last]
    return payments


def create_check(cls, confirm=None, payment_method_data=None, **data):
    check = create_setup(cls, **data)
    if confirm == "true":
        check._attach_pm(PaymentMethod(**payment_method_data))
    return check


PaymentIntent._api_create = classmethod(create)
PaymentIntent._api_list_all = classmethod(list_payments)
SetupIntent._api_create = classmethod(create_check)
PATH = "/v1/payment_intents/{id}/capture"
for at, route in enumerate(resources.extra_apis):
    if route[1] == PATH:
        resources.extra_apis[at] = ("POST", PATH, lambda **data: capture(PaymentIntent, **data))

from localstripe import server  # noqa: E402 (it reads the routes)


async def main():
    runner = web.AppRunner(server.app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(site._server.sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
