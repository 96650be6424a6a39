-- Version 3: which runs are of the same drive.

ALTER TABLE drive ADD COLUMN drive {text};

-- Only the files of the runs contain it, so all are read again.
UPDATE source SET judged_by = '';
