-- The clocks of accounts whose owners move their time, in the sandbox. An account without a row has the deployment's time. Rows stay, so
-- that versions grow: nodes go by the latest one.
CREATE TABLE account_clocks (
    client_id    {uuid} NOT NULL,
    ahead_millis {int} NOT NULL,
    stands_at    {int},
    advances_to  {int},
    doc          {json} NOT NULL,
    version      {int} NOT NULL,
    updated_at   {int} NOT NULL,
    PRIMARY KEY (client_id)
) {table_options};
