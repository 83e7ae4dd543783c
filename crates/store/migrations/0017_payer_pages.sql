-- How the payer of a wallet has paid, as his provider tells, and how many days the provider may take to gather what a void gives
-- back: a void that is sent again says the same.
ALTER TABLE transaction_requests ADD COLUMN paid_as TEXT;
ALTER TABLE transaction_requests ADD COLUMN delay_to_compose {int};
