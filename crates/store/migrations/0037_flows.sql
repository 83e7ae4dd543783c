-- Flows: each publication adds a version. Versions are never changed but for their status, since charges refer to them.
CREATE TABLE flows (
    id             {uuid} NOT NULL,
    client_id      {uuid} NOT NULL,
    merchant_id    {uuid} NOT NULL,
    payment_method TEXT NOT NULL,
    status         TEXT NOT NULL,
    doc            {json} NOT NULL,
    PRIMARY KEY (id, client_id)
) {table_options};
CREATE INDEX flows_by_client ON flows (client_id, id);
CREATE INDEX flows_by_merchant ON flows (client_id, merchant_id, payment_method, id);
CREATE UNIQUE INDEX flows_active ON flows (client_id, merchant_id, payment_method) WHERE status = 'active';
