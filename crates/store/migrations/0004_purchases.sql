-- Orders paid with several cards. The charges of the cards name their purchase; the purchase names them in its document.
CREATE TABLE purchases (
    id          {uuid} NOT NULL,
    client_id   {uuid} NOT NULL,
    merchant_id {uuid} NOT NULL,
    status      TEXT NOT NULL,
    amount      {int} NOT NULL,
    doc         {json} NOT NULL,
    private     {bytes},
    key_id      {uuid},
    actor       TEXT NOT NULL,
    version     {int} NOT NULL,
    updated_at  {int} NOT NULL,
    PRIMARY KEY (id, client_id)
) {table_options};

-- The key orders the entries of each purchase without a sequence.
CREATE TABLE purchase_history (
    purchase_id {uuid} NOT NULL,
    ordinal     {int} NOT NULL,
    client_id   {uuid} NOT NULL,
    id          {uuid} NOT NULL,
    milestone   TEXT NOT NULL,
    actions     TEXT NOT NULL,
    changes     TEXT NOT NULL,
    created_at  {int} NOT NULL,
    updated_at  {int} NOT NULL,
    PRIMARY KEY (purchase_id, ordinal, client_id)
) {keyed_table_options};
