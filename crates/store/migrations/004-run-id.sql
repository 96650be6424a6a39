-- Version 4: the ids of runs next to the states of their files, so that one table shows which rows are up to date.

ALTER TABLE source ADD COLUMN run_id {text};

UPDATE source SET run_id = (SELECT run.run_id FROM run WHERE run.run_key = source.run_key);
