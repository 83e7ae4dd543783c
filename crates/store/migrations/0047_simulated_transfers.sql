-- The transfers of the simulated bank, which is another system: no change of the product writes here. Of the account that was paid there
-- is only the last digit of its number, which decides what becomes of the transfer. sent says how often it was sent.
CREATE TABLE simulated_transfers (
    client_id  {uuid} NOT NULL,
    id         {uuid} NOT NULL,
    amount     {int} NOT NULL,
    currency   TEXT NOT NULL,
    last_digit TEXT NOT NULL,
    at         {int} NOT NULL,
    sent       {int} NOT NULL,
    PRIMARY KEY (client_id, id)
) {keyed_table_options};
