-- What the row of a call says beside its columns, as JSON; NULL where that is nothing, and then no part of its hash.
ALTER TABLE audit ADD COLUMN detail TEXT;
