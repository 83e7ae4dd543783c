-- Who receives parts of charges. What a client has said of a seller is sealed; it is found by digests of the document under which it is
-- registered and of its e-mail addresses, and by the name of its company in lower case.
CREATE TABLE sellers (
    id                 {uuid} NOT NULL,
    client_id          {uuid} NOT NULL,
    merchant_id        {uuid} NOT NULL,
    status             TEXT NOT NULL,
    document_key       {bytes},
    owner_email_key    {bytes},
    business_email_key {bytes},
    business_name      TEXT,
    doc                {json} NOT NULL,
    private            {bytes},
    key_id             {uuid} NOT NULL,
    version            {int} NOT NULL,
    updated_at         {int} NOT NULL,
    deleted_at         {int},
    PRIMARY KEY (id, client_id)
) {table_options};
CREATE INDEX sellers_by_client ON sellers (client_id, id);
CREATE INDEX sellers_by_merchant ON sellers (client_id, merchant_id, id);
CREATE UNIQUE INDEX sellers_by_document ON sellers (client_id, merchant_id, document_key)
    WHERE deleted_at IS NULL AND document_key IS NOT NULL;
