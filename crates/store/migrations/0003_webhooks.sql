-- Addresses that are told of events. A deleted one keeps its row for its deliveries, and loses its private keys. next_…
-- are set while a key is being replaced.
CREATE TABLE webhooks (
    id               {uuid} NOT NULL,
    client_id        {uuid} NOT NULL,
    event            TEXT NOT NULL,
    endpoint         TEXT NOT NULL,
    api_version      TEXT NOT NULL,
    active           {int} NOT NULL,
    public_key       {bytes} NOT NULL,
    private_key      {bytes},
    next_public_key  {bytes},
    next_private_key {bytes},
    next_key_at      {int},
    key_id           {uuid} NOT NULL,
    lost_in_a_row    {int} NOT NULL,
    version          {int} NOT NULL,
    updated_at       {int} NOT NULL,
    deleted_at       {int},
    PRIMARY KEY (id, client_id)
) {table_options};
CREATE INDEX webhooks_by_client ON webhooks (client_id, id);
CREATE UNIQUE INDEX webhooks_by_endpoint ON webhooks (client_id, event, endpoint) WHERE deleted_at IS NULL;

-- Set while an event still has to become deliveries; an event that no webhook asks for never has it.
ALTER TABLE events ADD COLUMN dispatch_at {int};
CREATE INDEX events_to_dispatch ON events (client_id, id) WHERE dispatch_at IS NOT NULL;

-- One event on its way to one webhook. object_id, object_version and ordinal are the event's key: the order of the
-- deliveries of an object, and the place of the snapshot that is sent. due_at is set until it is delivered, lost or
-- dropped; while an attempt is under way it is the time at which the attempt counts as lost with its process.
CREATE TABLE deliveries (
    id             {uuid} NOT NULL,
    client_id      {uuid} NOT NULL,
    webhook_id     {uuid} NOT NULL,
    event_id       {uuid} NOT NULL,
    event          TEXT NOT NULL,
    object_id      {uuid} NOT NULL,
    object_version {int} NOT NULL,
    ordinal        {int} NOT NULL,
    api_version    TEXT NOT NULL,
    status         TEXT NOT NULL,
    attempts       {int} NOT NULL,
    tries          {int} NOT NULL,
    due_at         {int},
    began_at       {int},
    updated_at     {int} NOT NULL,
    PRIMARY KEY (id, client_id)
) {table_options};
CREATE INDEX deliveries_by_webhook ON deliveries (client_id, webhook_id, id);
CREATE INDEX deliveries_due ON deliveries (webhook_id, client_id, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_by_object ON deliveries (webhook_id, object_id, client_id) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_by_event ON deliveries (event_id, client_id);

CREATE TABLE delivery_attempts (
    delivery_id {uuid} NOT NULL,
    ordinal     {int} NOT NULL,
    client_id   {uuid} NOT NULL,
    began_at    {int} NOT NULL,
    duration_ms {int} NOT NULL,
    http_status {int},
    failure     TEXT,
    answer      TEXT,
    PRIMARY KEY (delivery_id, ordinal, client_id)
) {keyed_table_options};
