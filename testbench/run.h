// What crosses the border between Rust (src/cosim/mod.rs: Run, Difference) and C++.
#pragma once

#include <cstdint>

// Consecutive cycles with the same inputs and the same expected outputs.
struct Run {
    uint64_t cycles;
    uint32_t inputs;   // Inputs::pack
    // tx_enable | power_state << 1 | hit << 4 | miss << 5 | update << 6 | message_out << 7
    // | sync_error << 10
    uint32_t control;
    uint64_t t_pdt;
    uint64_t t_pb;
    uint64_t window;
    uint64_t budget;
    uint64_t log2_cf;
};

// Where and how the model departs from what was expected.
struct Difference {
    uint64_t run;         // index of the run
    uint64_t cycle;       // cycle within the run
    uint64_t actual[12];  // by the numbers of the pins (Outputs::value)
};
