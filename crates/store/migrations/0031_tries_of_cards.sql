-- Cards of buyers at a session: how many are being tried, and how many were refused since its merchant has switched it on. Both
-- change by increments alone, never by the version of the session. The second one stood in the document before.
ALTER TABLE sessions ADD COLUMN trying {int} NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN refused {int} NOT NULL DEFAULT 0;
{sqlite} UPDATE sessions SET refused = COALESCE(json_extract(doc, '$.declines'), 0), doc = json_remove(doc, '$.declines');
{postgres} UPDATE sessions SET refused = COALESCE((doc ->> 'declines')::bigint, 0), doc = doc - 'declines';

-- The cards that are being tried: a row holds a place while its charge, or the check of its card, is under way. ended is set within the
-- batch that deletes the row; refused is 1 within the batch that counts a refusal while the next provider is asked, and 2 afterwards.
-- What was under way when this table was made holds no place.
CREATE TABLE session_tries (
    object_id  {uuid} NOT NULL,
    client_id  {uuid} NOT NULL,
    session_id {uuid} NOT NULL,
    ended      {int} NOT NULL,
    refused    {int} NOT NULL,
    PRIMARY KEY (object_id, client_id)
) {keyed_table_options};
CREATE INDEX session_tries_by_session ON session_tries (client_id, session_id);
