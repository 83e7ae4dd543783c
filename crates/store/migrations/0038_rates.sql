-- What was counted of requests for an authorization, by the hour of the try. bin is 0 and brand empty without a card; band is the
-- power of 4 of the amount, latency that of 2 of the milliseconds or -1; known is 1 for an outcome that was unknown for a while.
-- first_try is 1 at the first provider of the charge's route. Each writer has its own stripe. No person can be found by it.
CREATE TABLE rates (
    client_id     {uuid} NOT NULL,
    hour          {int} NOT NULL,
    provider_id   {uuid} NOT NULL,
    payment_type  TEXT NOT NULL,
    brand         TEXT NOT NULL,
    bin           {int} NOT NULL,
    currency      TEXT NOT NULL,
    band          {int} NOT NULL,
    counted       TEXT NOT NULL,
    code          TEXT NOT NULL,
    latency       {int} NOT NULL,
    known         {int} NOT NULL,
    first_try     {int} NOT NULL,
    stripe        {int} NOT NULL,
    merchant_id   {uuid} NOT NULL,
    provider_type TEXT NOT NULL,
    n             {int} NOT NULL,
    PRIMARY KEY (client_id, hour, provider_id, payment_type, brand, bin, currency, band, counted, code, latency, known,
        first_try, stripe)
) {keyed_table_options};
{postgres} ALTER TABLE rates SET (fillfactor = 50);
