-- The books of money. An entry moves an amount from one account to another in one currency, so what is out of balance cannot be
-- written. source_id is a charge, with the version that moved it, or a line of a settlement file. seller_id is that of the account
-- that is a seller's. Entries are added and never changed.
CREATE TABLE ledger_entries (
    source_id     {uuid} NOT NULL,
    version       {int} NOT NULL,
    ordinal       {int} NOT NULL,
    client_id     {uuid} NOT NULL,
    at            {int} NOT NULL,
    movement      TEXT NOT NULL,
    merchant_id   {uuid} NOT NULL,
    provider_type TEXT NOT NULL,
    currency      TEXT NOT NULL,
    debit         TEXT NOT NULL,
    credit        TEXT NOT NULL,
    seller_id     {uuid},
    amount        {int} NOT NULL CHECK (amount > 0),
    PRIMARY KEY (source_id, version, ordinal, client_id),
    CHECK (debit <> credit)
) {keyed_table_options};
CREATE INDEX ledger_entries_by_time ON ledger_entries (client_id, at, source_id, version, ordinal);
{sqlite} CREATE TRIGGER ledger_entries_stay BEFORE UPDATE ON ledger_entries BEGIN SELECT RAISE(ABORT, 'an entry is never changed'); END;
{sqlite} CREATE TRIGGER ledger_entries_remain BEFORE DELETE ON ledger_entries BEGIN SELECT RAISE(ABORT, 'an entry is never deleted'); END;
{postgres} CREATE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'an entry is never changed' USING ERRCODE = 'check_violation'; END $$;
{postgres} CREATE TRIGGER ledger_entries_stay BEFORE UPDATE OR DELETE ON ledger_entries FOR EACH ROW EXECUTE FUNCTION refuse_ledger_change();

-- Sums of entries by account and hour, in stripes as the counters of charges have them. Amounts are sums of the upper and of the lower
-- 32 bits, since those of few large entries would not fit 64. The nil seller stands for none.
CREATE TABLE ledger_balances (
    client_id     {uuid} NOT NULL,
    hour          {int} NOT NULL,
    merchant_id   {uuid} NOT NULL,
    provider_type TEXT NOT NULL,
    currency      TEXT NOT NULL,
    purpose       TEXT NOT NULL,
    seller_id     {uuid} NOT NULL,
    stripe        {int} NOT NULL,
    n             {int} NOT NULL,
    debits_high   {int} NOT NULL,
    debits_low    {int} NOT NULL,
    credits_high  {int} NOT NULL,
    credits_low   {int} NOT NULL,
    PRIMARY KEY (client_id, hour, merchant_id, provider_type, currency, purpose, seller_id, stripe)
) {keyed_table_options};
CREATE INDEX ledger_balances_unfolded ON ledger_balances (client_id, stripe, hour) WHERE stripe >= 0;
{postgres} ALTER TABLE ledger_balances SET (fillfactor = 50);

CREATE TABLE ledger_balance_spans (
    client_id     {uuid} NOT NULL,
    hours         {int} NOT NULL,
    first_hour    {int} NOT NULL,
    merchant_id   {uuid} NOT NULL,
    provider_type TEXT NOT NULL,
    currency      TEXT NOT NULL,
    purpose       TEXT NOT NULL,
    seller_id     {uuid} NOT NULL,
    n             {int} NOT NULL,
    debits_high   {int} NOT NULL,
    debits_low    {int} NOT NULL,
    credits_high  {int} NOT NULL,
    credits_low   {int} NOT NULL,
    PRIMARY KEY (client_id, hours, first_hour, merchant_id, provider_type, currency, purpose, seller_id)
) {keyed_table_options};

-- A job opens the books of the charges that there are.
{sqlite} INSERT INTO jobs (id, client_id, kind, lane, job_key, payload, run_at, attempts, version) SELECT X'00000000000070008000000000000024', zeroblob(16), 'open_ledger', 'housekeeping', '', '{}', 0, 0, 1 WHERE EXISTS (SELECT 1 FROM charges);
{postgres} INSERT INTO jobs (id, client_id, kind, lane, job_key, payload, run_at, attempts, version) SELECT '00000000-0000-7000-8000-000000000024'::uuid, '00000000-0000-0000-0000-000000000000'::uuid, 'open_ledger', 'housekeeping', '', '{}', 0, 0, 1 WHERE EXISTS (SELECT 1 FROM charges);
