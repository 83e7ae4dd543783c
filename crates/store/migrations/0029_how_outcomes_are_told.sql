-- What told the outcome of a request, if it was not the answer to the call.
ALTER TABLE transaction_requests ADD COLUMN told_by TEXT;
