-- The charges of which a receiver has something open are read page by page.
CREATE INDEX payout_orders_open_charges ON payout_orders (client_id, receiver, charge_id) WHERE batch_id IS NULL;
-- What a prepayment takes is found by three columns, more than any other index has of it: a planner without statistics takes this one.
DROP INDEX payout_orders_prepaid;
CREATE INDEX payout_orders_prepaid ON payout_orders (client_id, prepayment_id, receiver) WHERE prepayment_id IS NOT NULL;
