-- Vendors: what is known of one is sealed; its row outlives it, since charges name it.
CREATE TABLE vendors (
    id           {uuid} NOT NULL,
    client_id    {uuid} NOT NULL,
    reference_id TEXT,
    private      {bytes},
    key_id       {uuid} NOT NULL,
    version      {int} NOT NULL,
    updated_at   {int} NOT NULL,
    deleted_at   {int},
    PRIMARY KEY (id, client_id)
) {table_options};
CREATE INDEX vendors_by_client ON vendors (client_id, id);
CREATE UNIQUE INDEX vendors_by_reference ON vendors (client_id, reference_id)
    WHERE deleted_at IS NULL AND reference_id IS NOT NULL;
