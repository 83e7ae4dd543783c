-- A void of money that came to light late names what it undoes by the provider's own id, too: the record of the request that
-- it undoes has none, or that of a refusal.
ALTER TABLE transaction_requests ADD COLUMN undone_transaction_id TEXT;
