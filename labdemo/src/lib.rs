//! A lab with two nodes on one machine, for demonstrations: Slurm, the pages, Prometheus, and simulated drives. Everything
//! is inside one temporary folder, and nothing is left at the end. `cargo xtask lab-demo` is the command.
#![forbid(unsafe_code)]

pub mod campaign;
pub mod cluster;
pub mod demo;
pub mod folder;
pub mod graphs;
pub mod lab;
pub mod leftovers;
pub mod server;
