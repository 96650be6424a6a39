//! Steady state as defined by the PTS: the values of tracking variables over rounds, and the measurement window and its
//! limits. This crate also estimates how certain a verdict is and when steady state can be expected, explains why
//! it was not reached, and evaluates values over time: samples, falls, and drift with the temperature. It is pure and
//! does not depend on any test.
#![forbid(unsafe_code)]

pub mod confidence;
pub mod explain;
pub mod fall;
#[cfg(test)]
mod fixture;
pub mod forecast;
pub mod history;
pub mod steady;
pub mod temperature;
pub mod timeline;
