-- Orders that buyers pay by a link or in a shop. max_payments is NULL where one payment ends the session, and -1 where none does. The
-- four numbers are those of its payments; a payment that begins adds itself to the first one, if there is room.
CREATE TABLE sessions (
    id           {uuid} NOT NULL,
    client_id    {uuid} NOT NULL,
    merchant_id  {uuid} NOT NULL,
    status       TEXT NOT NULL,
    active       {int} NOT NULL,
    order_id     TEXT,
    amount       {int} NOT NULL,
    currency     TEXT NOT NULL,
    due_at       {int},
    max_payments {int},
    authorizing  {int} NOT NULL,
    pending      {int} NOT NULL,
    paid         {int} NOT NULL,
    returned     {int} NOT NULL,
    doc          {json} NOT NULL,
    actor        TEXT NOT NULL,
    version      {int} NOT NULL,
    updated_at   {int} NOT NULL,
    PRIMARY KEY (id, client_id)
) {table_options};
CREATE INDEX sessions_by_client ON sessions (client_id, id);

-- The charges of sessions. state and made follow the charge in its own batches; counted is what the session knows of it.
CREATE TABLE session_payments (
    charge_id  {uuid} NOT NULL,
    client_id  {uuid} NOT NULL,
    session_id {uuid} NOT NULL,
    state      TEXT NOT NULL,
    made       {int} NOT NULL,
    counted    TEXT NOT NULL,
    PRIMARY KEY (charge_id, client_id)
) {keyed_table_options};
CREATE INDEX session_payments_by_session ON session_payments (client_id, session_id, charge_id);

-- The key orders the entries of each session without a sequence.
CREATE TABLE session_history (
    session_id {uuid} NOT NULL,
    ordinal    {int} NOT NULL,
    client_id  {uuid} NOT NULL,
    id         {uuid} NOT NULL,
    status     TEXT NOT NULL,
    actions    TEXT NOT NULL,
    diff       TEXT NOT NULL,
    created_at {int} NOT NULL,
    PRIMARY KEY (session_id, ordinal, client_id)
) {keyed_table_options};
