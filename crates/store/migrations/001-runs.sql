-- Version 1. `{text}` is the type of text of the engine, compared byte by byte. After `{clustered}`, rows are stored in the
-- order of the primary key, if the engine can do that.

CREATE TABLE source (
    run_key {text} NOT NULL,
    library {text} NOT NULL,
    folder {text} NOT NULL,
    run_file_bytes BIGINT NOT NULL,
    run_file_modified_ns BIGINT NOT NULL,
    journal_bytes BIGINT NOT NULL,
    journal_modified_ns BIGINT NOT NULL,
    judged_by {text} NOT NULL,
    PRIMARY KEY (run_key)
){clustered};

CREATE TABLE run (
    run_key {text} NOT NULL,
    library {text},
    folder {text},
    run_id {text},
    name {text},
    started_utc {text},
    last_record_utc {text},
    tests {text},
    profile {text},
    target {text},
    state {text},
    conformance {text},
    simulated {text},
    scale_divisor BIGINT,
    imported_from {text},
    threads BIGINT,
    queue_depth BIGINT,
    seed BIGINT,
    plateau_version {text},
    records BIGINT,
    journal_sha256 {text},
    PRIMARY KEY (run_key)
){clustered};

CREATE TABLE drive (
    run_key {text} NOT NULL,
    kind {text},
    path {text},
    identity {text},
    vendor {text},
    model {text},
    serial {text},
    firmware {text},
    interface {text},
    nand {text},
    capacity_bytes BIGINT,
    logical_block_bytes BIGINT,
    physical_block_bytes BIGINT,
    rotational BIGINT,
    simulated_model {text},
    -- A keyword of PostgreSQL.
    "array" {text},
    PRIMARY KEY (run_key)
){clustered};

CREATE TABLE member (
    run_key {text} NOT NULL,
    number BIGINT,
    path {text},
    identity {text},
    vendor {text},
    model {text},
    serial {text},
    firmware {text},
    capacity_bytes BIGINT,
    PRIMARY KEY (run_key, number)
){clustered};

CREATE TABLE host (
    run_key {text} NOT NULL,
    cpu {text},
    cpus BIGINT,
    microcode {text},
    board {text},
    bios_version {text},
    memory_bytes BIGINT,
    os {text},
    kernel {text},
    kernel_command_line {text},
    governor {text},
    scheduler {text},
    pcie_link {text},
    PRIMARY KEY (run_key)
){clustered};

CREATE TABLE test (
    run_key {text} NOT NULL,
    test {text},
    title {text},
    clause {text},
    purge {text},
    rounds BIGINT,
    converged BIGINT,
    stopped {text},
    conformance {text},
    acceptance {text},
    io_errors BIGINT,
    deviations BIGINT,
    PRIMARY KEY (run_key, test)
){clustered};

CREATE TABLE steady_state (
    run_key {text} NOT NULL,
    test {text},
    number BIGINT,
    variable {text},
    first_round BIGINT,
    last_round BIGINT,
    mean DOUBLE PRECISION,
    data_excursion DOUBLE PRECISION,
    data_excursion_allowed DOUBLE PRECISION,
    slope_per_round DOUBLE PRECISION,
    slope_excursion DOUBLE PRECISION,
    slope_excursion_allowed DOUBLE PRECISION,
    steady BIGINT,
    host_limited BIGINT,
    PRIMARY KEY (run_key, test, number)
){clustered};

CREATE TABLE figure (
    run_key {text} NOT NULL,
    number BIGINT,
    test {text},
    figure_key {text},
    name {text},
    value DOUBLE PRECISION,
    unit {text},
    rounds BIGINT,
    spread_share DOUBLE PRECISION,
    uncertainty DOUBLE PRECISION,
    host_limited BIGINT,
    key_figure BIGINT,
    smaller_is_better BIGINT,
    PRIMARY KEY (run_key, number)
){clustered};

CREATE TABLE figure_round (
    run_key {text} NOT NULL,
    figure_number BIGINT,
    number BIGINT,
    value DOUBLE PRECISION,
    PRIMARY KEY (run_key, figure_number, number)
){clustered};

CREATE TABLE health (
    run_key {text} NOT NULL,
    number BIGINT,
    record BIGINT,
    at_ns BIGINT,
    temperature_celsius BIGINT,
    critical_warning BIGINT,
    available_spare_percent BIGINT,
    percentage_used BIGINT,
    power_on_hours BIGINT,
    host_read_bytes BIGINT,
    host_written_bytes BIGINT,
    media_written_bytes BIGINT,
    media_errors BIGINT,
    reallocated_sectors BIGINT,
    unsafe_shutdowns BIGINT,
    throttle_seconds BIGINT,
    hot_minutes BIGINT,
    throttling BIGINT,
    power_state BIGINT,
    PRIMARY KEY (run_key, number)
){clustered};

CREATE TABLE deviation (
    run_key {text} NOT NULL,
    number BIGINT,
    test {text},
    text {text},
    PRIMARY KEY (run_key, number)
){clustered};

CREATE TABLE tag (
    run_key {text} NOT NULL,
    number BIGINT,
    tag {text},
    PRIMARY KEY (run_key, number)
){clustered};

CREATE TABLE note (
    run_key {text} NOT NULL,
    number BIGINT,
    text {text},
    PRIMARY KEY (run_key, number)
){clustered};

CREATE INDEX figure_by_key ON figure (figure_key);
CREATE INDEX drive_by_identity ON drive (identity);
