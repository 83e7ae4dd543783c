-- Each account has a default plan. That of an account without one gets the account's id, says what held without it, and is the default
-- from the beginning on.
INSERT INTO plans (id, client_id, is_default, status, doc, version, updated_at)
SELECT c.id, c.id, 1, 'active',
    '{"format":1,"name":"Standard","policies":[{"paymentMethod":"credit","payoutTermDays":30,"payoutRecurrence":"daily","payoutDay":null},{"paymentMethod":"pix","payoutTermDays":1,"payoutRecurrence":"daily","payoutDay":null},{"paymentMethod":"boleto","payoutTermDays":1,"payoutRecurrence":"daily","payoutDay":null},{"paymentMethod":"nupay","payoutTermDays":1,"payoutRecurrence":"daily","payoutDay":null}],"fees":[]}',
    1, c.updated_at
FROM clients c WHERE NOT EXISTS (SELECT 1 FROM plans p WHERE p.client_id = c.id AND p.is_default = 1);

INSERT INTO plan_terms (plan_id, version, client_id, since, doc)
SELECT p.id, 1, p.client_id, 0,
    '{"format":1,"policies":[{"paymentMethod":"credit","payoutTermDays":30,"payoutRecurrence":"daily","payoutDay":null},{"paymentMethod":"pix","payoutTermDays":1,"payoutRecurrence":"daily","payoutDay":null},{"paymentMethod":"boleto","payoutTermDays":1,"payoutRecurrence":"daily","payoutDay":null},{"paymentMethod":"nupay","payoutTermDays":1,"payoutRecurrence":"daily","payoutDay":null}],"fees":[]}'
FROM plans p WHERE p.id = p.client_id;

INSERT INTO plan_defaults (id, client_id, plan_id, since)
SELECT p.id, p.client_id, p.id, 0 FROM plans p WHERE p.id = p.client_id;
