-- A provider may name the payment that a dispute is about only by its own id. The simulator names its calls, so that its payments,
-- which are most of a benchmark, stay out of the index.
DROP INDEX transaction_requests_by_reference;
CREATE INDEX transaction_requests_by_reference ON transaction_requests (client_id, provider_id, transaction_id)
    WHERE instructions IS NOT NULL OR provider_type <> 'SANDBOX';
