-- Reports. slot is the place that one takes among those of its account that are under way, at most five; it is empty once a report has
-- ended. doc has what was asked for and how far the files are; private is sealed: who gets the mail, and the key of the files.
CREATE TABLE reports (
    id         {uuid} NOT NULL,
    client_id  {uuid} NOT NULL,
    status     TEXT NOT NULL,
    slot       {int},
    doc        {json} NOT NULL,
    private    {bytes} NOT NULL,
    key_id     {uuid} NOT NULL,
    version    {int} NOT NULL,
    updated_at {int} NOT NULL,
    PRIMARY KEY (id, client_id)
) {table_options};
CREATE INDEX reports_by_client ON reports (client_id, id);
CREATE UNIQUE INDEX reports_under_way ON reports (client_id, slot) WHERE slot IS NOT NULL;
