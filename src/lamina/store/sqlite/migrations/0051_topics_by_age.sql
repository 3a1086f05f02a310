-- What stands of a topic is found newest first, so that a brief reads the newest open loops of a scope and not all of them.
DROP INDEX record_topic;
CREATE INDEX record_topic ON record_row (shelf, topic, coalesce(recorded_to, 9223372036854775807), recorded_from) WHERE topic IS NOT NULL;
