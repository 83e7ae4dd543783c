-- The endpoint of a webhook as it was sent; the column endpoint has the address that was checked and is called. NULL in
-- rows of earlier releases, which showed that one.
ALTER TABLE webhooks ADD COLUMN sent_endpoint TEXT;
-- What the webhook is sent for a partial refund; NULL is the default.
ALTER TABLE webhooks ADD COLUMN partial_refund TEXT;
