-- No charge belongs to a session, so nothing is found by it. The column stays: nodes of the former release name it.
DROP INDEX charges_by_session;
