//! If io_uring cannot be set up, another engine is used and the segment records why. This test has its own
//! process, because the limit that blocks io_uring applies to the whole process.

mod support;

use engine::{Engine, EngineError};
use record::IoEngine;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use support::{opened, workload};

const SIZE: u64 = 16 << 20;

#[test]
fn the_next_best_engine_takes_over_and_reports_why() {
    let [auto, forced] = [Engine::Auto, Engine::IoUring].map(|engine| {
        let file = support::file();
        (opened(&file, SIZE, engine), file)
    });
    let (auto, forced) = (&auto.0, &forced.0);
    assert_eq!(auto.finish(&workload(SIZE)).io_path.engine, IoEngine::IoUring);

    let before = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(3), ..before }).expect("a lower limit");
    let segment = auto.finish(&workload(SIZE));
    let error = forced.run(&workload(SIZE)).expect_err("no io_uring");
    setrlimit(Resource::Nofile, before).expect("the old limit");

    assert_eq!(segment.io_path.to_string(), "libaio (io_uring: Too many open files)");
    assert!(segment.write.ios > 0);
    assert!(matches!(error, EngineError::Setup { .. }), "{error}");
}
