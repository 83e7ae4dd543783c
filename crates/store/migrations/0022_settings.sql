-- What an account or one of its merchants has set for payment links. The settings of the account itself stand under the nil merchant.
CREATE TABLE settings (
    client_id   {uuid} NOT NULL,
    merchant_id {uuid} NOT NULL,
    id          {uuid} NOT NULL,
    doc         {json} NOT NULL,
    version     {int} NOT NULL,
    updated_at  {int} NOT NULL,
    PRIMARY KEY (client_id, merchant_id)
) {table_options};

-- The logos that settings show; one that is replaced goes.
CREATE TABLE logos (
    client_id {uuid} NOT NULL,
    id        {uuid} NOT NULL,
    format    TEXT NOT NULL,
    bytes     {bytes} NOT NULL,
    PRIMARY KEY (client_id, id)
) {table_options};
