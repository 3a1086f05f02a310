-- A lease has an owner and a fence, a number that no other lease ever has. One from before has none, and ends by its time or
-- with the next worker's start.
CREATE TABLE lease_counter (
  id                 INTEGER PRIMARY KEY CHECK (id = 1),
  fence              INTEGER NOT NULL
);
ALTER TABLE job ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN lease_owner TEXT;
ALTER TABLE outbox ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;
ALTER TABLE inquiry ADD COLUMN lease_owner TEXT;
ALTER TABLE inquiry ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;
