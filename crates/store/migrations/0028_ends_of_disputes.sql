-- When something happened that a provider reports of a payment, by the provider's clock: of several ends of a case the last one
-- counts, in whatever order they are heard.
ALTER TABLE transaction_requests ADD COLUMN occurred_at {int};

-- What a notification waits for, and since when; about which object, and when that happened: what waits for one object is
-- settled in that order.
ALTER TABLE provider_notifications ADD COLUMN waits_for TEXT;
ALTER TABLE provider_notifications ADD COLUMN waits_since {int};
ALTER TABLE provider_notifications ADD COLUMN object_id {uuid};
ALTER TABLE provider_notifications ADD COLUMN occurred_at {int};
CREATE INDEX provider_notifications_waiting ON provider_notifications (client_id, object_id)
    WHERE state = 'waiting' AND object_id IS NOT NULL;
