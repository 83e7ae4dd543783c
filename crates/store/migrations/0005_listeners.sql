-- A webhook that a developer's `regente webhooks listen` stands behind has listens_until, which that command moves on as
-- long as it runs. Its deliveries are never due (due_at stays NULL): they are fetched, and then deleted.
ALTER TABLE webhooks ADD COLUMN listens_until {int};
