-- What a session says of persons, sealed: the recipients of the NuPays that pay it.
ALTER TABLE sessions ADD COLUMN private {bytes};
ALTER TABLE sessions ADD COLUMN key_id {uuid};
