//! The known facts about a block device, as a list of names and values, for `plateau info`.

use admin::{About, Facts, Value, health, purge, write_cache};
use engine::Clock;

use crate::error::DriveError;
use crate::target::block::Block;

/// Queries the device of `block`.
pub(crate) fn of_block(block: &Block) -> Result<About, DriveError> {
    let (held, clock) = (block.hold_to_read()?, Clock::start());
    let can = block.capabilities(&held, clock);
    let mut facts = Facts::default();
    host(&mut facts, block);
    admin::describe(&mut facts, &can);
    let mut kernel = block.admin(&held, clock);
    let cache = write_cache::get(&mut kernel, &can).ok().flatten();
    facts.reported("write_cache_on", cache);
    let health = health::read(&mut kernel, &can);
    Ok(About { facts: facts.0, health, purge: purge::methods(&can) })
}

fn host(facts: &mut Facts, block: &Block) {
    let queue = |name: &str| block.attribute(&format!("queue/{name}"));
    let scheduler = queue("scheduler");
    let chosen = scheduler.as_deref().and_then(|text| text.split_once('[')?.1.split_once(']'));
    facts.reported("scheduler", chosen.map(|(name, _)| name));
    facts.reported("polled_queues", queue("io_poll").map(|flag| flag == "1"));
    facts.reported("write_cache_of_the_kernel", queue("write_cache"));
    facts.reported("merges", queue("nomerges").map(|level| level == "0"));
    facts.reported("io_statistics", queue("iostats").map(|flag| flag == "1"));
    let link = |kind: &str| {
        let (speed, width) = (format!("{kind}_link_speed"), format!("{kind}_link_width"));
        Some(format!("{} x{}", block.upwards(&speed)?, block.upwards(&width)?))
    };
    facts.reported("pcie_link", link("current"));
    facts.reported("pcie_link_at_most", link("max"));
    let node = block.upwards("numa_node").and_then(|text| text.parse::<f64>().ok());
    facts.reported("numa_node", node.filter(|&node| node >= 0.0).map(Value::Number));
    let members = block.members();
    facts.reported("members", (!members.is_empty()).then_some(members));
    facts.reported("raid_level", block.attribute("md/level"));
    facts.reported("raid_state", block.attribute("md/array_state"));
    facts.reported("dm_name", block.attribute("dm/name"));
    facts.reported("backing_file", block.attribute("loop/backing_file"));
}
