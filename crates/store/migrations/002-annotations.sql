-- Version 2: what people add to runs later.

ALTER TABLE source ADD COLUMN annotations {text};

ALTER TABLE run ADD COLUMN archived_utc {text};
ALTER TABLE run ADD COLUMN archived_by {text};

ALTER TABLE tag ADD COLUMN added_utc {text};
ALTER TABLE tag ADD COLUMN added_by {text};

ALTER TABLE note ADD COLUMN added_utc {text};
ALTER TABLE note ADD COLUMN added_by {text};

CREATE TABLE baseline (
    run_key {text} NOT NULL,
    number BIGINT,
    baseline {text},
    set_utc {text},
    set_by {text},
    PRIMARY KEY (run_key, number)
){clustered};

CREATE INDEX tag_by_name ON tag (tag);
