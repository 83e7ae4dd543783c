-- Documents that prove refunds: one row for each issue, with its file sealed. refunds is a digest of the refunds that it proves, so that
-- the same ones have one issue of a type in a language. The bytes stand last, so that whoever reads the rest passes them by.
CREATE TABLE receipts (
    id           {uuid} NOT NULL,
    client_id    {uuid} NOT NULL,
    charge_id    {uuid} NOT NULL,
    receipt_type TEXT NOT NULL,
    language     TEXT NOT NULL,
    refunds      {uuid} NOT NULL,
    format       TEXT NOT NULL,
    expires_at   {int} NOT NULL,
    key_id       {uuid} NOT NULL,
    file         {bytes} NOT NULL,
    PRIMARY KEY (id, client_id)
) {table_options};
CREATE UNIQUE INDEX receipts_by_refunds ON receipts (client_id, charge_id, receipt_type, language, refunds);
CREATE INDEX receipts_by_client ON receipts (client_id, id);
CREATE INDEX receipts_by_expiry ON receipts (expires_at, client_id);
