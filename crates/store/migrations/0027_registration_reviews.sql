-- What providers ask sellers to confirm, until when. What a seller has answered is sealed, until the provider has judged it.
CREATE TABLE registration_reviews (
    id          {uuid} NOT NULL,
    client_id   {uuid} NOT NULL,
    seller_id   {uuid} NOT NULL,
    merchant_id {uuid} NOT NULL,
    demand_key  {uuid} NOT NULL,
    status      TEXT NOT NULL,
    deadline_at {int} NOT NULL,
    doc         {json} NOT NULL,
    version     {int} NOT NULL,
    key_id      {uuid} NOT NULL,
    answer      {bytes},
    PRIMARY KEY (id, client_id)
) {table_options};
CREATE INDEX registration_reviews_by_client ON registration_reviews (client_id, id);
CREATE INDEX registration_reviews_by_seller ON registration_reviews (client_id, seller_id, id);
CREATE UNIQUE INDEX registration_reviews_by_demand ON registration_reviews (client_id, demand_key);
