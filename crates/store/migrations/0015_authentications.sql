-- What a 3DS server has answered to a step of an authentication: the outcome of a request says whether the charge goes on, this
-- says why.
ALTER TABLE transaction_requests ADD COLUMN authentication TEXT;

-- Authentications that were prepared and that no charge has used yet. fingerprint is that of the card, as in cards: a charge of
-- another card cannot use the setup. A row goes when a charge uses it, and at expires_at at the latest.
CREATE TABLE authentication_setups (
    id          {uuid} NOT NULL,
    client_id   {uuid} NOT NULL,
    server      TEXT NOT NULL,
    fingerprint {uuid} NOT NULL,
    expires_at  {int} NOT NULL,
    actor       TEXT NOT NULL,
    PRIMARY KEY (id, client_id)
) {keyed_table_options};
CREATE INDEX authentication_setups_by_expiry ON authentication_setups (expires_at, client_id);
