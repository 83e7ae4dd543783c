-- How many customers the buyers of a session have made with its key. It changes by increments alone.
ALTER TABLE sessions ADD COLUMN customers {int} NOT NULL DEFAULT 0;
