-- The offset from UTC that an event's time was sent with, in minutes; and where it was sent without one, that of the zone which was
-- known of its speaker when it was first read. What was stored before keeps neither.
ALTER TABLE event ADD COLUMN observed_offset INTEGER;
ALTER TABLE event ADD COLUMN zone_offset INTEGER;
