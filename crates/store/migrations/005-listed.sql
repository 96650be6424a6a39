-- Version 5: what lists show about a run next to the state of its files, so that lists read one table.

ALTER TABLE source ADD COLUMN listed {text};

-- Only the files of the runs contain it, so all are read again.
UPDATE source SET judged_by = '';

-- What the list of drives reads about every run.
CREATE INDEX run_by_start ON run (started_utc, run_id, records DESC, run_key);
CREATE INDEX drive_by_run ON drive (run_key, drive, kind, firmware);
