//! Histograms of idle periods (SPEC 6).

pub mod clearing;
