-- Files that show who a seller is, sealed. The seller is known once one names the file. The bytes stand last, so that whoever reads the
-- rest passes them by.
CREATE TABLE seller_documents (
    id         {uuid} NOT NULL,
    client_id  {uuid} NOT NULL,
    kind       TEXT NOT NULL,
    format     TEXT NOT NULL,
    status     TEXT NOT NULL,
    seller_id  {uuid},
    sent_at    {int},
    expires_at {int} NOT NULL,
    offered    {json} NOT NULL,
    version    {int} NOT NULL,
    key_id     {uuid} NOT NULL,
    file       {bytes} NOT NULL,
    PRIMARY KEY (id, client_id)
) {table_options};
CREATE INDEX seller_documents_by_client ON seller_documents (client_id, id);
CREATE INDEX seller_documents_by_seller ON seller_documents (client_id, seller_id) WHERE seller_id IS NOT NULL;
