-- What customers are charged at each due date. What decides a list has a column.
CREATE TABLE subscriptions (
    id            {uuid} NOT NULL,
    client_id     {uuid} NOT NULL,
    merchant_id   {uuid} NOT NULL,
    customer_id   {uuid} NOT NULL,
    status        TEXT NOT NULL,
    reference_key TEXT,
    amount        {int} NOT NULL,
    doc           {json} NOT NULL,
    actor         TEXT NOT NULL,
    version       {int} NOT NULL,
    updated_at    {int} NOT NULL,
    PRIMARY KEY (id, client_id)
) {table_options};
CREATE INDEX subscriptions_by_client ON subscriptions (client_id, id);
CREATE INDEX subscriptions_by_customer ON subscriptions (client_id, customer_id, id);

-- The key has the number of a cycle, so that a due date is billed once. open is 1 while something may still happen to the cycle by
-- itself.
CREATE TABLE subscription_cycles (
    subscription_id {uuid} NOT NULL,
    number          {int} NOT NULL,
    client_id       {uuid} NOT NULL,
    id              {uuid} NOT NULL,
    open            {int} NOT NULL,
    doc             {json} NOT NULL,
    PRIMARY KEY (subscription_id, number, client_id)
) {table_options};
CREATE INDEX open_subscription_cycles ON subscription_cycles (subscription_id, client_id, number) WHERE open = 1;
CREATE INDEX subscription_cycles_by_id ON subscription_cycles (client_id, id);

-- The charges of subscriptions: which attempt of which cycle each of them is.
CREATE TABLE subscription_charges (
    charge_id       {uuid} NOT NULL,
    client_id       {uuid} NOT NULL,
    subscription_id {uuid} NOT NULL,
    cycle_id        {uuid} NOT NULL,
    attempt         {int} NOT NULL,
    PRIMARY KEY (charge_id, client_id)
) {keyed_table_options};
CREATE INDEX subscription_charges_by_subscription ON subscription_charges (client_id, subscription_id, charge_id);

-- How an account charges its subscriptions, once it has said so.
CREATE TABLE subscription_settings (
    client_id  {uuid} NOT NULL,
    doc        {json} NOT NULL,
    created_at {int} NOT NULL,
    version    {int} NOT NULL,
    updated_at {int} NOT NULL,
    PRIMARY KEY (client_id)
) {table_options};
