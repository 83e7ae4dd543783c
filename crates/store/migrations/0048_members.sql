-- People who work with an account in the dashboard. They are found by their address, or by a link, before an account is known: each
-- server has both tables whole. The address is a keyed digest, and free again once a member is revoked. A link invites, or signs in.
CREATE TABLE members (
    id           {uuid} NOT NULL,
    client_id    {uuid} NOT NULL,
    email_key    {bytes},
    role         TEXT NOT NULL,
    status       TEXT NOT NULL,
    private      {bytes} NOT NULL,
    key_id       {uuid} NOT NULL,
    link_digest  {bytes},
    link_ends_at {int},
    version      {int} NOT NULL,
    updated_at   {int} NOT NULL,
    PRIMARY KEY (id, client_id)
) {table_options};
CREATE INDEX members_by_client ON members (client_id, id);
CREATE UNIQUE INDEX members_by_email ON members (email_key) WHERE email_key IS NOT NULL;
CREATE UNIQUE INDEX members_by_link ON members (link_digest) WHERE link_digest IS NOT NULL;

-- The key of those digests: one row of the deployment.
CREATE TABLE member_keys (
    id     {uuid} PRIMARY KEY,
    secret {bytes} NOT NULL,
    key_id {uuid} NOT NULL
) {table_options};

-- Browsers in which members have signed in. A row ends by being deleted.
CREATE TABLE sign_ins (
    digest     {bytes} NOT NULL,
    client_id  {uuid} NOT NULL,
    id         {uuid} NOT NULL,
    member_id  {uuid} NOT NULL,
    browser    TEXT NOT NULL,
    began_at   {int} NOT NULL,
    seen_at    {int} NOT NULL,
    PRIMARY KEY (digest, client_id)
) {keyed_table_options};
CREATE INDEX sign_ins_by_member ON sign_ins (client_id, member_id, id);
