//! PerfBound: the threshold from the histogram (SPEC 7).

pub mod golden;
