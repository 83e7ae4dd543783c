-- One text for both databases: {uuid} {json} {bytes} {int} are the type words, {table_options} is STRICT on SQLite,
-- {keyed_table_options} clusters a table by its primary key where SQLite can (rows that are small and found by it).
--
-- Every key contains client_id, so that the schema can be distributed by it. On hot tables the time-ordered id comes
-- first, so that new rows land on the same few pages however many clients there are.

CREATE TABLE heartbeat (
    id    {int} PRIMARY KEY,
    beats {int} NOT NULL
) {table_options};
INSERT INTO heartbeat (id, beats) VALUES (1, 0);

-- Two small reference tables: every node of a distributed database keeps a copy.
CREATE TABLE clients (
    id         {uuid} PRIMARY KEY,
    name       TEXT NOT NULL,
    status     TEXT NOT NULL,
    secret     {bytes} NOT NULL,
    key_id     {uuid} NOT NULL,
    doc        {json} NOT NULL,
    version    {int} NOT NULL,
    updated_at {int} NOT NULL
) {table_options};

CREATE TABLE data_keys (
    id         {uuid} PRIMARY KEY,
    kek_id     TEXT NOT NULL,
    wrapped    {bytes} NOT NULL,
    state      TEXT NOT NULL,
    updated_at {int} NOT NULL
) {table_options};

CREATE TABLE credentials (
    digest        {bytes} NOT NULL,
    client_id     {uuid} NOT NULL,
    id            {uuid} NOT NULL,
    kind          TEXT NOT NULL,
    label         TEXT NOT NULL,
    scopes        TEXT NOT NULL,
    session_id    {uuid},
    expires_at    {int},
    revoked_at    {int},
    last_used_day {int},
    actor         TEXT NOT NULL,
    PRIMARY KEY (digest, client_id)
) {keyed_table_options};
CREATE UNIQUE INDEX credentials_by_id ON credentials (client_id, id);
CREATE INDEX credentials_by_expiry ON credentials (expires_at, client_id) WHERE expires_at IS NOT NULL;

CREATE TABLE audit (
    id          {uuid} NOT NULL,
    client_id   {uuid} NOT NULL,
    actor       TEXT NOT NULL,
    action      TEXT NOT NULL,
    object_kind TEXT NOT NULL,
    object_id   {uuid} NOT NULL,
    request_id  TEXT,
    PRIMARY KEY (id, client_id)
) {table_options};
CREATE INDEX audit_by_object ON audit (client_id, object_id, id);

CREATE TABLE merchants (
    id         {uuid} NOT NULL,
    client_id  {uuid} NOT NULL,
    status     TEXT NOT NULL,
    doc        {json} NOT NULL,
    version    {int} NOT NULL,
    updated_at {int} NOT NULL,
    deleted_at {int},
    PRIMARY KEY (id, client_id)
) {table_options};
CREATE INDEX merchants_by_client ON merchants (client_id, id);

CREATE TABLE providers (
    id            {uuid} NOT NULL,
    client_id     {uuid} NOT NULL,
    merchant_id   {uuid} NOT NULL,
    provider_type TEXT NOT NULL,
    priority      {int} NOT NULL,
    credentials   {bytes} NOT NULL,
    key_id        {uuid} NOT NULL,
    doc           {json} NOT NULL,
    version       {int} NOT NULL,
    updated_at    {int} NOT NULL,
    deleted_at    {int},
    PRIMARY KEY (id, client_id)
) {table_options};
CREATE INDEX providers_by_merchant ON providers (client_id, merchant_id, id);

-- Found by the digest of the token id: the id itself, from which the row's key is derived, is stored nowhere.
CREATE TABLE tokens (
    digest     {bytes} NOT NULL,
    client_id  {uuid} NOT NULL,
    kind       TEXT NOT NULL,
    sealed     {bytes} NOT NULL,
    key_id     {uuid} NOT NULL,
    expires_at {int} NOT NULL,
    actor      TEXT NOT NULL,
    PRIMARY KEY (digest, client_id)
) {keyed_table_options};
CREATE INDEX tokens_by_expiry ON tokens (expires_at, client_id);

CREATE TABLE customers (
    id            {uuid} NOT NULL,
    client_id     {uuid} NOT NULL,
    email_key     {bytes},
    document_key  {bytes},
    number_key    {bytes},
    document_type TEXT NOT NULL,
    private       {bytes},
    key_id        {uuid} NOT NULL,
    version       {int} NOT NULL,
    updated_at    {int} NOT NULL,
    deleted_at    {int},
    PRIMARY KEY (id, client_id)
) {table_options};
CREATE INDEX customers_by_client ON customers (client_id, id);
CREATE UNIQUE INDEX customers_by_email ON customers (client_id, email_key)
    WHERE deleted_at IS NULL AND email_key IS NOT NULL;
CREATE UNIQUE INDEX customers_by_document ON customers (client_id, document_key)
    WHERE deleted_at IS NULL AND document_key IS NOT NULL;

CREATE INDEX customers_by_number ON customers (client_id, number_key, id)
    WHERE deleted_at IS NULL AND number_key IS NOT NULL;

CREATE TABLE customer_aliases (
    id          {uuid} NOT NULL,
    client_id   {uuid} NOT NULL,
    customer_id {uuid} NOT NULL,
    private     {bytes},
    key_id      {uuid} NOT NULL,
    PRIMARY KEY (id, client_id)
) {table_options};

CREATE INDEX customer_aliases_by_customer ON customer_aliases (client_id, customer_id);

CREATE TABLE cards (
    id             {uuid} NOT NULL,
    client_id      {uuid} NOT NULL,
    customer_id    {uuid},
    linked_at      {int},
    fingerprint    {uuid} NOT NULL,
    status         TEXT NOT NULL,
    pan            {bytes},
    private        {bytes},
    key_id         {uuid} NOT NULL,
    doc            {json} NOT NULL,
    version        {int} NOT NULL,
    updated_at     {int} NOT NULL,
    deleted_at     {int},
    PRIMARY KEY (id, client_id)
) {table_options};
CREATE INDEX cards_by_client ON cards (client_id, id);
CREATE INDEX cards_by_customer ON cards (client_id, customer_id, linked_at) WHERE customer_id IS NOT NULL;

-- No index on status or updated_at: on PostgreSQL it would forbid in-place updates.
CREATE TABLE charges (
    id              {uuid} NOT NULL,
    client_id       {uuid} NOT NULL,
    merchant_id     {uuid} NOT NULL,
    status          TEXT NOT NULL,
    payment_type    TEXT NOT NULL,
    provider_type   TEXT,
    order_id        TEXT,
    session_id      {uuid},
    customer_id     {uuid},
    amount          {int} NOT NULL,
    original_amount {int} NOT NULL,
    currency        TEXT NOT NULL,
    doc             {json} NOT NULL,
    private         {bytes},
    key_id          {uuid},
    actor           TEXT NOT NULL,
    version         {int} NOT NULL,
    updated_at      {int} NOT NULL,
    PRIMARY KEY (id, client_id)
) {table_options};
CREATE INDEX charges_by_client ON charges (client_id, id);
CREATE INDEX charges_by_order ON charges (client_id, order_id, id) WHERE order_id IS NOT NULL;
CREATE INDEX charges_by_session ON charges (client_id, session_id, id) WHERE session_id IS NOT NULL;

-- Earlier versions of charges that moved on after an answer had been given (replays of that answer read them).
CREATE TABLE charge_history (
    id            {uuid} NOT NULL,
    version       {int} NOT NULL,
    client_id     {uuid} NOT NULL,
    status        TEXT NOT NULL,
    provider_type TEXT,
    amount        {int} NOT NULL,
    doc           {json} NOT NULL,
    updated_at    {int} NOT NULL,
    PRIMARY KEY (id, version, client_id)
) {table_options};

CREATE TABLE charge_counters (
    client_id     {uuid} NOT NULL,
    hour          {int} NOT NULL,
    merchant_id   {uuid} NOT NULL,
    status        TEXT NOT NULL,
    payment_type  TEXT NOT NULL,
    provider_type TEXT NOT NULL,
    stripe        {int} NOT NULL,
    n             {int} NOT NULL,
    PRIMARY KEY (client_id, hour, merchant_id, status, payment_type, provider_type, stripe)
) {keyed_table_options};

-- object_id is the charge, or the card for a verification. A row is also the audit record of the decryption of the
-- card it names. due_at is set while the outcome is not known: the reconcile job finds the row by it.
CREATE TABLE transaction_requests (
    object_id                  {uuid} NOT NULL,
    ordinal                    {int} NOT NULL,
    client_id                  {uuid} NOT NULL,
    id                         {uuid} NOT NULL,
    object_kind                TEXT NOT NULL,
    card_id                    {uuid},
    provider_id                {uuid} NOT NULL,
    provider_type              TEXT NOT NULL,
    request_type               TEXT NOT NULL,
    status                     TEXT NOT NULL,
    amount                     {int} NOT NULL,
    transaction_id             TEXT,
    authorization_code         TEXT,
    authorization_nsu          TEXT,
    network_authorization_code TEXT,
    network_response_code      TEXT,
    response_code              TEXT,
    decline                    TEXT,
    duration_ms                {int},
    due_at                     {int},
    probes                     {int} NOT NULL,
    actor                      TEXT NOT NULL,
    updated_at                 {int} NOT NULL,
    PRIMARY KEY (object_id, ordinal, client_id)
) {keyed_table_options};
CREATE INDEX transaction_requests_due ON transaction_requests (due_at, client_id) WHERE due_at IS NOT NULL;

-- The key orders the events of each object without a sequence.
CREATE TABLE events (
    object_id   {uuid} NOT NULL,
    version     {int} NOT NULL,
    ordinal     {int} NOT NULL,
    client_id   {uuid} NOT NULL,
    id          {uuid} NOT NULL,
    object_kind TEXT NOT NULL,
    name        TEXT NOT NULL,
    actor       TEXT NOT NULL,
    snapshot    TEXT,
    PRIMARY KEY (object_id, version, ordinal, client_id)
) {keyed_table_options};

-- digest covers credential, method, route with its path ids, and the caller's key. The answer is a pointer to a
-- version of a record, or a sealed body for errors that came after a provider had been called.
CREATE TABLE idempotency (
    digest      {bytes} NOT NULL,
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
) {keyed_table_options};
CREATE INDEX idempotency_by_expiry ON idempotency (expires_at, client_id);

CREATE TABLE jobs (
    id          {uuid} NOT NULL,
    client_id   {uuid} NOT NULL,
    kind        TEXT NOT NULL,
    lane        TEXT NOT NULL,
    job_key     TEXT NOT NULL,
    payload     TEXT NOT NULL,
    run_at      {int} NOT NULL,
    attempts    {int} NOT NULL,
    lease_owner {uuid},
    lease_until {int},
    version     {int} NOT NULL,
    PRIMARY KEY (id, client_id)
) {table_options};
CREATE INDEX jobs_due ON jobs (run_at, client_id);
CREATE UNIQUE INDEX jobs_by_key ON jobs (client_id, kind, job_key);

CREATE TABLE dead_jobs (
    id          {uuid} NOT NULL,
    client_id   {uuid} NOT NULL,
    kind        TEXT NOT NULL,
    lane        TEXT NOT NULL,
    job_key     TEXT NOT NULL,
    payload     TEXT NOT NULL,
    attempts    {int} NOT NULL,
    why         TEXT NOT NULL,
    died_at     {int} NOT NULL,
    PRIMARY KEY (id, client_id)
) {table_options};
