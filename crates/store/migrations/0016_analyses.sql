-- A request to analyse the risk of a charge has what the analysis found. Its status is analysed; while the verdict is still to
-- come, due_at says when the provider is asked for it.
ALTER TABLE transaction_requests ADD COLUMN analysis TEXT;
