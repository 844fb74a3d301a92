//! linkdoze: power-saving controllers for the ports of Ethernet-derived HPC switches.
//!
//! One configuration file describes a per-port controller. From it come the
//! synthesizable Verilog ([`blocks`], [`hdl`]), the register and memory estimates
//! ([`estimate`]), a cycle-exact golden model (beside each block), the papers'
//! mathematics in real numbers ([`mod@reference`]), the lock-step co-simulation
//! ([`cosim`]) and the packet model that drives it with application traces
//! ([`network`]).
//!
//! Dependencies point one way:
//! `cli -> {cosim, report -> sweep -> experiment} -> energy -> network -> blocks -> {hdl, config ->
//! input}` (`docs/contributing/layers.md`).
//! A block's golden model never imports its description; [`mod@reference`] imports neither.

pub mod blocks;
pub mod cli;
pub mod config;
pub mod constraints;
pub mod cosim;
pub mod datasheet;
pub mod energy;
pub mod estimate;
pub mod ethernet;
pub mod experiment;
pub mod files;
pub mod handover;
pub mod hdl;
pub mod input;
pub mod mutate;
pub mod network;
pub mod periods;
pub mod reference;
pub mod registers;
pub mod report;
pub mod rtl;
pub mod sweep;
pub mod synth;
mod tools;
pub mod usage;
pub mod verify;
mod words;
pub mod wrapper;
