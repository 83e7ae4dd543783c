-- What providers notify, as it arrived: written before the provider is answered, settled by a job. The id is half of a digest
-- of the provider and of the notification's own id or body, so that a repetition meets its row.
CREATE TABLE provider_notifications (
    id            {uuid} NOT NULL,
    client_id     {uuid} NOT NULL,
    provider_id   {uuid} NOT NULL,
    provider_type TEXT NOT NULL,
    headers       TEXT NOT NULL,
    body          {bytes} NOT NULL,
    key_id        {uuid} NOT NULL,
    state         TEXT NOT NULL,
    why           TEXT,
    received_at   {int} NOT NULL,
    settled_at    {int},
    PRIMARY KEY (id, client_id)
) {table_options};
CREATE INDEX provider_notifications_settled ON provider_notifications (settled_at, client_id) WHERE settled_at IS NOT NULL;
CREATE INDEX provider_notifications_left ON provider_notifications (received_at) WHERE state <> 'applied';

-- A notification may name a request by the provider's own id. Providers that wait for a payer give it with the
-- instructions; requests without instructions stay out of the index.
CREATE INDEX transaction_requests_by_reference ON transaction_requests (client_id, provider_id, transaction_id)
    WHERE instructions IS NOT NULL;
