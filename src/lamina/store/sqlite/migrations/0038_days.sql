-- What was noted of the days that a turn means, so that a recall need not find them; empty where nothing was. Rows of earlier releases get theirs
-- as they are derived anew, and are worded without until then.
ALTER TABLE text_row ADD COLUMN days TEXT NOT NULL DEFAULT '';
ALTER TABLE frozen_text ADD COLUMN days TEXT NOT NULL DEFAULT '';
