-- The subscription for which a session takes another card. Such a session takes no payment.
ALTER TABLE sessions ADD COLUMN subscription_id {uuid};
