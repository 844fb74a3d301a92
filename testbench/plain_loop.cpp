// The yardstick of benches/cosim.rs: a Verilator model of a predicting port in the loop
// that anyone would write. Inputs come from an array, outputs are read in every cycle,
// nothing is checked.

#include <cstdint>
#include <memory>

#include "verilated.h"

#include "Vport.h"

#define LINKDOZE_EXPORT extern "C" __attribute__((visibility("default")))

// Clocks `count` cycles with the first word of the packed inputs (src/blocks/port/pins.rs,
// Inputs::pack) and returns a checksum of all outputs.
LINKDOZE_EXPORT uint64_t plain_loop(const uint32_t* inputs, uint64_t count) {
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
        sum = (sum << 1 | sum >> 63) ^ top->tx_enable ^ top->power_state ^ top->hit ^ top->miss
              ^ top->t_pdt ^ top->update ^ top->t_pb ^ top->window ^ top->budget;
        const uint32_t in = inputs[cycle];
        top->rst = in & 1;
        top->queue_nonempty = in >> 1 & 1;
        top->transmitting = in >> 2 & 1;
        top->receiving = in >> 3 & 1;
        top->packet_valid = in >> 4 & 1;
        top->packet_hops = in >> 5 & 63;
        top->sleep_permit = in >> 11 & 1;
        top->remote_down = in >> 12 & 1;
        top->remote_up = in >> 13 & 1;
        top->clk = 0;
        top->eval();
        top->clk = 1;
        top->eval();
    }
    top->final();
    return sum;
}
