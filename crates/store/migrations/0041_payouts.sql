-- Payouts. A receiver is a seller, or the nil id for the account itself. Days are numbers such as 20260422; arrangement is empty where
-- there is none. An order is never changed but for where it is paid; ordinal is its place among those of its charge.
CREATE TABLE payout_orders (
    id                 {uuid} NOT NULL,
    client_id          {uuid} NOT NULL,
    charge_id          {uuid} NOT NULL,
    ordinal            {int} NOT NULL,
    step               {int} NOT NULL,
    receiver           {uuid} NOT NULL,
    merchant_id        {uuid} NOT NULL,
    order_type         TEXT NOT NULL,
    installment        {int},
    total_installments {int},
    gross              {int} NOT NULL,
    fee                {int} NOT NULL,
    currency           TEXT NOT NULL,
    method             TEXT NOT NULL,
    arrangement        TEXT NOT NULL,
    scheduled_at       {int} NOT NULL,
    reduces            {int},
    batch_id           {uuid},
    prepayment_id      {uuid},
    updated_at         {int} NOT NULL,
    PRIMARY KEY (id, client_id)
) {table_options};
CREATE UNIQUE INDEX payout_orders_of_charge ON payout_orders (charge_id, client_id, ordinal);
CREATE INDEX payout_orders_by_client ON payout_orders (client_id, id);
CREATE INDEX payout_orders_by_receiver ON payout_orders (client_id, receiver, id);
CREATE INDEX payout_orders_of_batch ON payout_orders (client_id, batch_id, id) WHERE batch_id IS NOT NULL;
CREATE INDEX payout_orders_open ON payout_orders (client_id, scheduled_at) WHERE batch_id IS NULL;
CREATE INDEX payout_orders_open_of_receiver ON payout_orders (client_id, receiver, scheduled_at) WHERE batch_id IS NULL;

-- What a receiver is paid at once. transfer says whether the bank may have been asked, looks how often it was asked since.
CREATE TABLE payment_batches (
    id                {uuid} NOT NULL,
    client_id         {uuid} NOT NULL,
    receiver          {uuid} NOT NULL,
    merchant_id       {uuid} NOT NULL,
    currency          TEXT NOT NULL,
    method            TEXT NOT NULL,
    arrangement       TEXT NOT NULL,
    feature           TEXT NOT NULL,
    status            TEXT NOT NULL,
    prepayment_id     {uuid},
    orders            {int} NOT NULL,
    amount            {int} NOT NULL,
    fee               {int} NOT NULL,
    total_fee         {int} NOT NULL,
    balance           {int} NOT NULL,
    credit            {int} NOT NULL,
    refund            {int} NOT NULL,
    debit_adjustment  {int} NOT NULL,
    credit_adjustment {int} NOT NULL,
    withdrawal_fee    {int} NOT NULL,
    final_balance     {int} NOT NULL,
    payment_date      {int} NOT NULL,
    payout_date       {int},
    transfer          TEXT NOT NULL,
    looks             {int} NOT NULL,
    error             TEXT,
    version           {int} NOT NULL,
    updated_at        {int} NOT NULL,
    PRIMARY KEY (id, client_id)
) {table_options};
CREATE INDEX payment_batches_by_client ON payment_batches (client_id, id);
CREATE INDEX payment_batches_by_receiver ON payment_batches (client_id, receiver, id);
CREATE INDEX payment_batches_pending ON payment_batches (client_id, receiver) WHERE status = 'pending';

-- What receivers owe, because more was taken back than they had: later batches set it off.
CREATE TABLE payout_debts (
    client_id   {uuid} NOT NULL,
    receiver    {uuid} NOT NULL,
    merchant_id {uuid} NOT NULL,
    currency    TEXT NOT NULL,
    amount      {int} NOT NULL,
    version     {int} NOT NULL,
    updated_at  {int} NOT NULL,
    PRIMARY KEY (client_id, receiver, merchant_id, currency)
) {keyed_table_options};

-- The bank account of an account of the product, sealed; id is that of the account.
CREATE TABLE payout_accounts (
    id         {uuid} NOT NULL,
    client_id  {uuid} NOT NULL,
    private    {bytes} NOT NULL,
    key_id     {uuid} NOT NULL,
    version    {int} NOT NULL,
    updated_at {int} NOT NULL,
    PRIMARY KEY (id, client_id)
) {table_options};
