//! Maximum power of an NVMe drive in its current power state, from its Power State Descriptors.

use crate::command::{Admin, nvme};
use crate::wire::nvme::PowerState;

/// Returns the maximum power in microwatts; `None` if the drive does not report it.
pub fn bound_microwatts(admin: &mut dyn Admin) -> Option<u64> {
    let states = nvme::controller(admin).ok()?.power_states;
    let current = nvme::power_state(admin).ok()?;
    bound_watts(&states, current).map(|watts| (watts * 1e6).round() as u64)
}

/// An idle drive may be in a non-operational state, which it leaves to perform any I/O. Which state it then
/// enters is unknown, so the upper bound is the power of the operational state with the highest power.
fn bound_watts(states: &[PowerState], current: u8) -> Option<f64> {
    let current = states.get(usize::from(current))?;
    if current.operational {
        return current.max_watts;
    }
    let operational: Option<Vec<f64>> =
        states.iter().filter(|state| state.operational).map(|state| state.max_watts).collect();
    operational?.into_iter().max_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::script::{Answer, Script};
    use crate::wire::nvme::IDENTIFY_BYTES;

    fn state(max_watts: Option<f64>, operational: bool) -> PowerState {
        PowerState { max_watts, operational }
    }

    #[test]
    fn an_idle_state_is_no_bound_for_loads() {
        let states = [state(Some(8.5), true), state(Some(4.0), true), state(Some(0.05), false)];
        assert_eq!(bound_watts(&states, 1), Some(4.0));
        assert_eq!(bound_watts(&states, 2), Some(8.5));
        assert_eq!(bound_watts(&states, 3), None, "a state without a descriptor");
        assert_eq!(bound_watts(&[state(None, true), state(Some(0.05), false)], 1), None);
    }

    #[test]
    fn the_state_and_its_descriptor_are_read() {
        let mut controller = vec![0; IDENTIFY_BYTES];
        controller[263] = 1;
        controller[2048..2050].copy_from_slice(&850_u16.to_le_bytes());
        controller[2080..2082].copy_from_slice(&4000_u16.to_le_bytes());
        controller[2083] = 1;
        let mut script = Script::new(0).nvme(0x06, 0, 1, Answer::Bytes(controller)).nvme(
            0x0a,
            0,
            2,
            Answer::Bytes(vec![1]),
        );
        assert_eq!(bound_microwatts(&mut script), Some(400_000));
        script.finish();
    }
}
