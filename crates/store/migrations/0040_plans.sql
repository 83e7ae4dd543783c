-- Sales plans: what the platform's own provider keeps, and when it pays out. doc has what a plan says now. Of the plans of an account one
-- is the default.
CREATE TABLE plans (
    id         {uuid} NOT NULL,
    client_id  {uuid} NOT NULL,
    is_default {int} NOT NULL,
    status     TEXT NOT NULL,
    doc        {json} NOT NULL,
    version    {int} NOT NULL,
    updated_at {int} NOT NULL,
    PRIMARY KEY (id, client_id)
) {table_options};
CREATE INDEX plans_by_client ON plans (client_id, id);
CREATE UNIQUE INDEX plans_default ON plans (client_id) WHERE is_default = 1;

-- What a plan has said, and from when on; rows are only added. A charge has the terms of the moment of its capture.
CREATE TABLE plan_terms (
    plan_id   {uuid} NOT NULL,
    version   {int} NOT NULL,
    client_id {uuid} NOT NULL,
    since     {int} NOT NULL,
    doc       {json} NOT NULL,
    PRIMARY KEY (plan_id, version, client_id)
) {table_options};

-- Which plan has been the default of an account, and from when on; rows are only added.
CREATE TABLE plan_defaults (
    id        {uuid} NOT NULL,
    client_id {uuid} NOT NULL,
    plan_id   {uuid} NOT NULL,
    since     {int} NOT NULL,
    PRIMARY KEY (client_id, id)
) {keyed_table_options};

-- Which plan a seller has been linked to, and from when on; null is no plan of its own. Rows are only added. The version is the seller's.
CREATE TABLE seller_plans (
    seller_id {uuid} NOT NULL,
    version   {int} NOT NULL,
    client_id {uuid} NOT NULL,
    plan_id   {uuid},
    since     {int} NOT NULL,
    PRIMARY KEY (seller_id, version, client_id)
) {keyed_table_options};
