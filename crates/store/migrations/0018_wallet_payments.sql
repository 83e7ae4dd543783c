-- Payments that wallets have signed and that a charge was made of, by the digest of what was signed: each pays one charge. A row
-- goes at expires_at, when the signature is too old to be taken again.
CREATE TABLE wallet_payments (
    digest     {bytes} NOT NULL,
    client_id  {uuid} NOT NULL,
    charge_id  {uuid} NOT NULL,
    expires_at {int} NOT NULL,
    PRIMARY KEY (digest, client_id)
) {keyed_table_options};
CREATE INDEX wallet_payments_by_expiry ON wallet_payments (expires_at, client_id);
