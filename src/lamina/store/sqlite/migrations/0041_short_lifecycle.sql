-- A row of the lifecycle names its event by its position: the id stands in the event. Its own id is made of its arrival and of the
-- low bits that are kept of it, and it is found by its arrival. Rows of earlier releases stay as they are.
DROP INDEX lifecycle_id;
ALTER TABLE lifecycle ADD COLUMN position INTEGER;
CREATE INDEX lifecycle_position ON lifecycle (tenant_id, position, number) WHERE position IS NOT NULL;
