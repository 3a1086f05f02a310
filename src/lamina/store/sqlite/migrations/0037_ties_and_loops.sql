-- An edge of the why graph says what it means: what was "ordinal" is the place of an event in its episode or the instant that a
-- statement is about, and what was "role" is who made it, what an event did in its episode, or the turn that said yes to an offer.
ALTER TABLE support RENAME COLUMN ordinal TO place;
ALTER TABLE support RENAME COLUMN role TO actor;
ALTER TABLE support ADD COLUMN at INTEGER;
ALTER TABLE support ADD COLUMN part TEXT;
ALTER TABLE support ADD COLUMN accepted_in TEXT;
UPDATE support SET part = actor, actor = NULL WHERE relation = 'contains';
UPDATE support SET accepted_in = actor, actor = NULL WHERE relation = 'offered_in';
UPDATE support SET at = place, place = 0
WHERE relation IN ('extracted_from', 'held_until', 'handed_over_in', 'taken_back_by', 'done_by', 'corrected_by', 'moved_by', 'moved_until',
  'may_change', 'opened_by', 'said_again_by', 'affirmed_by', 'completed_by', 'dropped_by', 'offered_in');
ALTER TABLE frozen_support RENAME COLUMN ordinal TO place;
ALTER TABLE frozen_support RENAME COLUMN role TO actor;
ALTER TABLE frozen_support ADD COLUMN at INTEGER;
ALTER TABLE frozen_support ADD COLUMN part TEXT;
ALTER TABLE frozen_support ADD COLUMN accepted_in TEXT;
UPDATE frozen_support SET part = actor, actor = NULL WHERE relation = 'contains';
UPDATE frozen_support SET accepted_in = actor, actor = NULL WHERE relation = 'offered_in';
UPDATE frozen_support SET at = place, place = 0
WHERE relation IN ('extracted_from', 'held_until', 'handed_over_in', 'taken_back_by', 'done_by', 'corrected_by', 'moved_by', 'moved_until',
  'may_change', 'opened_by', 'said_again_by', 'affirmed_by', 'completed_by', 'dropped_by', 'offered_in');

-- The state of a loop stands in columns: of a record that is none they are null.
ALTER TABLE record ADD COLUMN status TEXT;
ALTER TABLE record ADD COLUMN salience INTEGER;
ALTER TABLE record ADD COLUMN horizon TEXT;
ALTER TABLE record ADD COLUMN due_at INTEGER;
ALTER TABLE record ADD COLUMN due_offset INTEGER;
ALTER TABLE record ADD COLUMN seen_at INTEGER;
UPDATE record SET status = body ->> '$.loop[0]', salience = body ->> '$.loop[1]', horizon = body ->> '$.loop[2]',
  due_at = body ->> '$.loop[3]', seen_at = body ->> '$.loop[4]', due_offset = body ->> '$.loop[5]', body = json_remove(body, '$.loop')
WHERE layer = 'facts' AND body ->> '$.loop' IS NOT NULL;
ALTER TABLE frozen_record ADD COLUMN status TEXT;
ALTER TABLE frozen_record ADD COLUMN salience INTEGER;
ALTER TABLE frozen_record ADD COLUMN horizon TEXT;
ALTER TABLE frozen_record ADD COLUMN due_at INTEGER;
ALTER TABLE frozen_record ADD COLUMN due_offset INTEGER;
ALTER TABLE frozen_record ADD COLUMN seen_at INTEGER;
UPDATE frozen_record SET status = body ->> '$.loop[0]', salience = body ->> '$.loop[1]', horizon = body ->> '$.loop[2]',
  due_at = body ->> '$.loop[3]', seen_at = body ->> '$.loop[4]', due_offset = body ->> '$.loop[5]', body = json_remove(body, '$.loop')
WHERE layer = 'facts' AND body ->> '$.loop' IS NOT NULL;
