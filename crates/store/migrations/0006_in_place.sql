-- A charge is written twice within moments, and so are its card and its claim. PostgreSQL changes a row in place, without
-- touching an index, when its page has room for the second version: pages are filled with first versions by half.
{postgres} ALTER TABLE charges SET (fillfactor = 50);
{postgres} ALTER TABLE cards SET (fillfactor = 60);
{postgres} ALTER TABLE idempotency SET (fillfactor = 70);
