-- What is due is found by its time, and of one account by the account and the time, whatever waits and whoever else has much to do.
-- A request is under way at first; most end so, and enter one small index alone. Then its outcome is unknown, or it waits for a payer.
DROP INDEX transaction_requests_due;
CREATE INDEX transaction_requests_under_way ON transaction_requests (due_at, client_id)
    WHERE due_at IS NOT NULL AND status = 'running' AND probes = 0 AND open_reason IS NULL;
CREATE INDEX transaction_requests_unknown ON transaction_requests (due_at, client_id)
    WHERE due_at IS NOT NULL AND status = 'running' AND (probes > 0 OR open_reason IS NOT NULL);
CREATE INDEX transaction_requests_waiting ON transaction_requests (due_at, client_id)
    WHERE due_at IS NOT NULL AND status <> 'running';
CREATE INDEX transaction_requests_of_client ON transaction_requests (client_id, due_at)
    WHERE due_at IS NOT NULL AND (status <> 'running' OR probes > 0 OR open_reason IS NOT NULL);

-- The jobs of a queue are found without reading those of another.
DROP INDEX jobs_due;
CREATE INDEX jobs_due ON jobs (lane, run_at, client_id);
CREATE INDEX jobs_of_client ON jobs (client_id, lane, run_at, id);
-- At its start the one process of an SQLite file looks for the jobs that its earlier run had under way, which are few.
{sqlite} CREATE INDEX jobs_leased ON jobs (client_id) WHERE lease_owner IS NOT NULL;
