-- Why a request is open, and since when nobody asks any more: its schedule is over and an operator must look.
ALTER TABLE transaction_requests ADD COLUMN open_reason TEXT;
ALTER TABLE transaction_requests ADD COLUMN given_up_at {int};
CREATE INDEX transaction_requests_given_up ON transaction_requests (given_up_at, client_id)
    WHERE given_up_at IS NOT NULL;
