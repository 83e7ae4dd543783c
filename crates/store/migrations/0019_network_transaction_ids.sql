-- The card network's id of the payment with which a cardholder agreed to later ones. A request has the id that its payment was
-- given; the card keeps that of the newest agreement, and later payments without the cardholder name it.
ALTER TABLE transaction_requests ADD COLUMN network_transaction_id TEXT;
ALTER TABLE cards ADD COLUMN network_transaction_id TEXT;
