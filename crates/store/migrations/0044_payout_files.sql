-- Files of payments that were written for a bank: a bank demands that their numbers grow by one.
CREATE TABLE payout_files (
    client_id {uuid} NOT NULL,
    bank      TEXT NOT NULL,
    number    {int} NOT NULL,
    payments  {int} NOT NULL,
    amount    {int} NOT NULL,
    made_at   {int} NOT NULL,
    PRIMARY KEY (client_id, bank, number)
) {keyed_table_options};
