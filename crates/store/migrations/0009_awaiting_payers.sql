-- A provider may give the payer something to do: the request that did so has its instructions and when they expire, and a
-- later request that follows it says what became of them. follows is also what a capture takes and what a void undoes.
-- sent_at is there once a request was sent again; before, it was sent when it was made.
ALTER TABLE transaction_requests ADD COLUMN follows {uuid};
ALTER TABLE transaction_requests ADD COLUMN sent_at {int};
ALTER TABLE transaction_requests ADD COLUMN instructions TEXT;
ALTER TABLE transaction_requests ADD COLUMN expires_at {int};

-- Security codes of cards whose payers are away, for the provider that would be asked next. A row goes when it is used, when
-- its charge ends, and at expires_at at the latest.
CREATE TABLE held_security_codes (
    charge_id  {uuid} NOT NULL,
    client_id  {uuid} NOT NULL,
    sealed     {bytes} NOT NULL,
    key_id     {uuid} NOT NULL,
    expires_at {int} NOT NULL,
    PRIMARY KEY (charge_id, client_id)
) {keyed_table_options};
CREATE INDEX held_security_codes_by_expiry ON held_security_codes (expires_at, client_id);
