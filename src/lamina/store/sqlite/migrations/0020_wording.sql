-- Rules fold what left a window at once, and a language model words it behind them: `worded` is what the model made of a
-- sitting as far as it got, null where nothing waits for it. `revision` counts what changed the summary.
ALTER TABLE session ADD COLUMN worded TEXT;
ALTER TABLE session ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
