-- Counters of 8, 64, 512, 4096, 32768 and 262144 hours. A span begins at a multiple of its length, in hours since the epoch.
CREATE TABLE charge_counter_spans (
    client_id     {uuid} NOT NULL,
    hours         {int} NOT NULL,
    first_hour    {int} NOT NULL,
    merchant_id   {uuid} NOT NULL,
    status        TEXT NOT NULL,
    payment_type  TEXT NOT NULL,
    provider_type TEXT NOT NULL,
    n             {int} NOT NULL,
    PRIMARY KEY (client_id, hours, first_hour, merchant_id, status, payment_type, provider_type)
) {keyed_table_options};
-- What is counted is first in a stripe of its writer, 0 or more, which no span contains yet. A job moves it to the stripe
-- -1 of its hour and to the spans of that hour. The index is not written when a counter grows.
CREATE INDEX charge_counters_unfolded ON charge_counters (client_id, stripe, hour) WHERE stripe >= 0;
