-- Why a record is kept out of what is shown by itself; empty for nearly every one. Rows of earlier releases get theirs as they are derived
-- anew.
ALTER TABLE text_row ADD COLUMN quarantined TEXT NOT NULL DEFAULT '';
