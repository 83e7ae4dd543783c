-- Prepayments: receivables that are paid early. An offer stands until expires_at; doc has its rates, what was asked for, the day on
-- which it is paid, and its items.
CREATE TABLE prepayments (
    id         {uuid} NOT NULL,
    client_id  {uuid} NOT NULL,
    seller_id  {uuid},
    status     TEXT NOT NULL,
    expires_at {int} NOT NULL,
    doc        {json} NOT NULL,
    version    {int} NOT NULL,
    updated_at {int} NOT NULL,
    PRIMARY KEY (id, client_id)
) {table_options};
CREATE INDEX payout_orders_prepaid ON payout_orders (client_id, prepayment_id) WHERE prepayment_id IS NOT NULL;
