-- A claim that a charge answers is written once: it holds the version that its request began, and is answered by the first
-- version from there on that has nothing under way. A finished one holds the version that answered, which is the same.
UPDATE idempotency SET state = 'charge', http_status = 201,
    version = COALESCE(version, (SELECT c.version FROM charges c
        WHERE c.id = idempotency.object_id AND c.client_id = idempotency.client_id))
WHERE object_kind = 'charge';
