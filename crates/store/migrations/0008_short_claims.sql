-- Keys are random, so each claim is written to a page of its own wherever keys decide the place. In that index are now only
-- half of the digest, which tells keys apart as well, and the client; the rows lie behind one another as they come.
{postgres} LOCK TABLE idempotency IN ACCESS EXCLUSIVE MODE;
-- What a node of the former release has claimed after migration 7, as that one did.
UPDATE idempotency SET state = 'charge', http_status = 201,
    version = COALESCE(version, (SELECT c.version FROM charges c
        WHERE c.id = idempotency.object_id AND c.client_id = idempotency.client_id))
WHERE object_kind = 'charge' AND state <> 'charge';
CREATE TABLE claims (
    digest      {uuid} NOT NULL,
    client_id   {uuid} NOT NULL,
    fingerprint {bytes} NOT NULL,
    state       TEXT NOT NULL,
    http_status {int},
    object_kind TEXT,
    object_id   {uuid},
    version     {int},
    body        {bytes},
    key_id      {uuid},
    expires_at  {int} NOT NULL,
    PRIMARY KEY (digest, client_id)
) {table_options};
INSERT INTO claims (digest, client_id, fingerprint, state, http_status, object_kind, object_id, version, body, key_id,
    expires_at)
SELECT {half_of_digest}, client_id, fingerprint, state, http_status, object_kind, object_id, version, body, key_id, expires_at
FROM idempotency ORDER BY expires_at;
DROP TABLE idempotency;
ALTER TABLE claims RENAME TO idempotency;
CREATE INDEX idempotency_by_expiry ON idempotency (expires_at);
