// The yardstick of benches/cosim.rs: a Verilator model of a port in the loop that anyone
// would write. Inputs come from an array, outputs are read in every cycle, nothing is checked.
//
// Compiled together with `plain_pins.h`, which the benchmark generates from the list of pins:
//   WORDS             words of the packed inputs of a cycle (src/blocks/port/pins.rs, Inputs::pack)
//   drive(top, words) sets the input pins
//   read(top)         all output pins, combined into a number

#include <cstdint>
#include <memory>

#include "verilated.h"

#include "Vport.h"

#include "plain_pins.h"

#define LINKDOZE_EXPORT extern "C" __attribute__((visibility("default")))

// Clocks `count` cycles with these inputs and returns a checksum of all outputs.
LINKDOZE_EXPORT uint64_t plain_loop(const uint64_t* inputs, uint64_t count) {
    VerilatedContext context;
    auto top = std::make_unique<Vport>(&context);
    top->rst = 1;
    for (int i = 0; i < 2; ++i) {
        top->clk = 0;
        top->eval();
        top->clk = 1;
        top->eval();
    }
    uint64_t sum = 0;
    for (uint64_t cycle = 0; cycle < count; ++cycle) {
        sum = (sum << 1 | sum >> 63) ^ read(*top);
        drive(*top, inputs + WORDS * cycle);
        top->clk = 0;
        top->eval();
        top->clk = 1;
        top->eval();
    }
    top->final();
    return sum;
}
