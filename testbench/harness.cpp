// The C++ side of the co-simulation: a Verilator model behind a C interface that clocks
// and compares many cycles per call.
//
// Compiled together with the model that Verilator generates and with `pins.h`, which is
// generated from the pin table (src/cosim/glue.rs) and provides, for one model:
//   Model, Root              the Verilator classes
//   PORTS                    how many ports the model has: so many runs, one for each port,
//                            belong together
//   drive(root, runs)        sets the input pins of a cycle
//   difference(root, runs)   zero if every output pin has its expected value
//   port_that_differs(root, runs)  the first port of which an output pin has not
//   read(root, port, actual) copies the output pins of a port
//   settle_inputs(model, root)  lets changed inputs reach what depends on them
//   clock_edge(model, root)  one rising edge of clk
// and, where the registers that count time could be found in the model (LINKDOZE_LEAPS):
//   TIME_REGISTERS           their number
//   read_time(root, values), write_time(root, values)
//   settle(root)             lets changed registers reach what depends on them
// and, of a model that counts which of its lines are reached (VM_COVERAGE): nothing more
// and, of a model with an input that chooses a fault (LINKDOZE_CHOICE):
//   choose(root, number)     sets it
//
// One cycle: the outputs that the registers hold are compared, the inputs are applied,
// the clock rises.

#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

#include "verilated.h"
#if VM_COVERAGE
#include "verilated_cov.h"
#endif

#include "run.h"

#include "pins.h"

#if defined(LINKDOZE_TRACE_FST) || defined(LINKDOZE_TRACE_VCD)
#define LINKDOZE_TRACE
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#endif
#ifdef LINKDOZE_TRACE_FST
#include <cstdio>
#include <sys/mman.h>
#include "verilated_fst_c.h"
#elif defined(LINKDOZE_TRACE_VCD)
#include "verilated_vcd_c.h"
#endif

#define LINKDOZE_EXPORT extern "C" __attribute__((visibility("default")))

// What Verilator would end the process for becomes an error of the call: the design may
// be a file that someone has edited.
void vl_fatal(const char* file, int line, const char*, const char* message) {
    throw std::runtime_error(std::string(file ? file : "?") + ":" + std::to_string(line) + ": "
                             + message);
}
void vl_stop(const char* file, int line, const char*) {
    throw std::runtime_error(std::string(file ? file : "?") + ":" + std::to_string(line)
                             + ": the design executed $stop or $fatal");
}
void vl_finish(const char* file, int line, const char*) {
    throw std::runtime_error(std::string(file ? file : "?") + ":" + std::to_string(line)
                             + ": the design executed $finish");
}

#ifdef LINKDOZE_TRACE

namespace {

[[noreturn]] void cannot_write(int error) {
    throw std::runtime_error(std::string("the waveform cannot be written: ")
                             + std::strerror(error));
}

// A file whose first error is kept.
class Output {
    int m_fd = -1;
    int m_error = 0;

public:
    ~Output() { close(); }
    bool open(const char* path) {
        m_fd = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (m_fd < 0) m_error = errno;
        return m_fd >= 0;
    }
    void write(const char* bytes, size_t count) {
        while (count > 0 && !m_error) {
            const ssize_t written = ::write(m_fd, bytes, count);
            if (written < 0) {
                if (errno != EINTR) m_error = errno;
            } else {
                bytes += written;
                count -= static_cast<size_t>(written);
            }
        }
    }
    void close() {
        if (m_fd >= 0 && ::close(m_fd) && !m_error) m_error = errno;
        m_fd = -1;
    }
    void check() const {
        if (m_error) cannot_write(m_error);
    }
};

#ifdef LINKDOZE_TRACE_FST

// The library that writes FST files does not tell that a disk is full, and maps files that it
// could not write: its files lie in memory here, and the waveform goes to the disk when it is
// complete. A library that does not open its files with fopen writes to the disk itself.

// The library could not write one of its files: it has closed it without a word.
thread_local bool cut_short = false;

// Where the memory of the waveform, the first file that the library writes, is to be kept.
thread_local int* opening = nullptr;

FILE* memory_file() {
    const int fd = memfd_create("waveform", MFD_CLOEXEC);
    if (fd < 0) return nullptr;
    if (opening && *opening < 0) *opening = dup(fd);
    return fdopen(fd, "w+b");
}

class Trace : public VerilatedFstC {
    std::string m_path;
    int m_memory = -1;

public:
    ~Trace() override {
        if (m_memory >= 0) ::close(m_memory);
    }
    void begin(const char* path) {
        m_path = path;
        opening = &m_memory;
        open(path);
        opening = nullptr;
    }
    void check() const {}
    // Closes the waveform, complete on the disk.
    void finish() {
        cut_short = false;
        close();
        if (cut_short) throw std::runtime_error("the waveform cannot be written: it was cut short");
        if (m_memory < 0) return;
        Output output;
        output.open(m_path.c_str());
        output.check();
        char bytes[1 << 16];
        off_t place = 0;
        while (const ssize_t count = pread(m_memory, bytes, sizeof bytes, place)) {
            if (count < 0) cannot_write(errno);
            output.write(bytes, static_cast<size_t>(count));
            place += count;
        }
        output.close();
        output.check();
    }
};

#else

// What Verilator's own file meets an error with is an exception out of a destructor.
class File : public VerilatedVcdFile {
public:
    Output output;
    bool open(const std::string& name) override { return output.open(name.c_str()); }
    void close() override { output.close(); }
    ssize_t write(const char* bytes, ssize_t count) override {
        output.write(bytes, static_cast<size_t>(count));
        return count;
    }
};

class Trace : File, public VerilatedVcdC {
public:
    Trace()
        : VerilatedVcdC(static_cast<File*>(this)) {}
    void begin(const char* path) { VerilatedVcdC::open(path); }
    void check() const { output.check(); }
    // Closes the waveform, complete on the disk.
    void finish() {
        VerilatedVcdC::close();
        output.check();
    }
};

#endif

}  // namespace

#endif

namespace {

struct Instance {
    VerilatedContext context;
    std::unique_ptr<Model> model;
    std::string error;
#ifdef LINKDOZE_TRACE
    std::unique_ptr<Trace> trace;
    uint64_t cycle = 0;
    uint64_t period_ps = 0;
#endif
};

// Calls `body` and turns an exception into -1 and a text for linkdoze_error.
template <typename Body>
int guarded(Instance* instance, Body body) {
    try {
        return body();
    } catch (const std::exception& error) {
        instance->error = error.what();
    } catch (...) {
        instance->error = "unknown C++ exception";
    }
    return -1;
}

// Whether the runs of all ports have the inputs of others.
bool same_inputs(const Run* runs, const Run* others) {
    bool same = true;
    for (int port = 0; port < PORTS; ++port) {
        same &= std::memcmp(&runs[port].inputs, &others[port].inputs, sizeof(Inputs)) == 0;
    }
    return same;
}

// Why the last instance of this thread could not be made.
thread_local std::string creation_error;

}  // namespace

// A model after two cycles of reset, or null. The instance is used by one thread at a time.
LINKDOZE_EXPORT void* linkdoze_create() {
    try {
        auto instance = std::make_unique<Instance>();
        instance->context.fatalOnError(true);
#ifdef LINKDOZE_TRACE
        instance->context.traceEverOn(true);
#endif
        instance->model = std::make_unique<Model>(&instance->context, "");
        Model& model = *instance->model;
        Root& root = *model.rootp;
        Run reset[PORTS] = {};
        reset[0].inputs.rst = 1;
        drive(root, reset);
        root.clk = 0;
        model.eval();
        for (int i = 0; i < 2; ++i) {
            root.clk = 0;
            model.eval();
            root.clk = 1;
            model.eval();
        }
        return instance.release();
    } catch (const std::exception& error) {
        creation_error = error.what();
    } catch (...) {
        creation_error = "unknown C++ exception";
    }
    return nullptr;
}

#ifdef LINKDOZE_CHOICE

// From now on the design has the fault of this number, and is just after reset.
LINKDOZE_EXPORT int linkdoze_choose(void* handle, uint64_t number) {
    auto* instance = static_cast<Instance*>(handle);
    return guarded(instance, [&] {
        Model& model = *instance->model;
        Root& root = *model.rootp;
        choose(root, number);
        Run reset[PORTS] = {};
        reset[0].inputs.rst = 1;
        drive(root, reset);
        settle_inputs(model, root);
        for (int i = 0; i < 2; ++i) clock_edge(model, root);
        return 0;
    });
}

#endif

LINKDOZE_EXPORT void linkdoze_destroy(void* handle) {
    auto* instance = static_cast<Instance*>(handle);
    try {
        instance->model->final();
    } catch (...) {
        // A `final` block of the design that calls $finish: nothing is left to end.
    }
    delete instance;
}

// The text of the last error of this instance; of null, why there is no instance.
LINKDOZE_EXPORT const char* linkdoze_error(void* handle) {
    if (!handle) return creation_error.c_str();
    return static_cast<Instance*>(handle)->error.c_str();
}

// Clocks and compares `count` runs, a multiple of PORTS: 0 all equal, 1 stopped at a difference
// (before the edge of that cycle), -1 error.
LINKDOZE_EXPORT int linkdoze_run(void* handle, const Run* runs, uint64_t count,
                                 Difference* found) {
    auto* instance = static_cast<Instance*>(handle);
    return guarded(instance, [&] {
        Model& model = *instance->model;
        Root& root = *model.rootp;
        for (uint64_t index = 0; index < count; index += PORTS) {
            const Run* const now = runs + index;
            if (index == 0 || !same_inputs(now, now - PORTS)) {
                drive(root, now);
                settle_inputs(model, root);
            }
            for (uint64_t cycle = 0; cycle < now[0].cycles; ++cycle) {
                if (VL_UNLIKELY(difference(root, now))) {
                    const int port = port_that_differs(root, now);
                    found->run = index + port;
                    found->cycle = cycle;
                    read(root, port, found->actual);
                    return 1;
                }
                clock_edge(model, root);
            }
        }
        return 0;
    });
}

#ifdef LINKDOZE_LEAPS

// Whether a leap may begin: returns 0 if the outputs are those of `run` and the registers that count
// time hold `before`; they hold `after` then. Returns 1 if an output differs, and 2 if a register
// does: found->run is which, found->cycle what it holds.
LINKDOZE_EXPORT int linkdoze_leap(void* handle, const Run* run, const uint64_t* before,
                                  const uint64_t* after, Difference* found) {
    auto* instance = static_cast<Instance*>(handle);
    return guarded(instance, [&] {
        Model& model = *instance->model;
        Root& root = *model.rootp;
        drive(root, run);
        settle_inputs(model, root);
        if (difference(root, run)) {
            read(root, 0, found->actual);
            return 1;
        }
        uint64_t values[TIME_REGISTERS];
        read_time(root, values);
        for (int index = 0; index < TIME_REGISTERS; ++index) {
            if (values[index] != before[index]) {
                found->run = index;
                found->cycle = values[index];
                return 2;
            }
        }
        write_time(root, after);
        settle(root);
#ifdef LINKDOZE_TRACE
        instance->cycle += run->cycles;
#endif
        return 0;
    });
}

#endif

#if VM_COVERAGE

// Writes what was reached since the instance was made to a file.
LINKDOZE_EXPORT int linkdoze_coverage(void* handle, const char* path) {
    auto* instance = static_cast<Instance*>(handle);
    return guarded(instance, [&] {
        instance->context.coveragep()->write(path);
        return 0;
    });
}

#endif

// Clocks one run without comparing, and copies the outputs of the cycle after it.
LINKDOZE_EXPORT int linkdoze_pass(void* handle, const Run* run, uint64_t* actual) {
    auto* instance = static_cast<Instance*>(handle);
    return guarded(instance, [&] {
        Model& model = *instance->model;
        Root& root = *model.rootp;
        drive(root, run);
        settle_inputs(model, root);
        for (uint64_t cycle = 0; cycle < run->cycles; ++cycle) clock_edge(model, root);
        read(root, 0, actual);
        return 0;
    });
}

#ifdef LINKDOZE_TRACE_FST
// What the library calls instead (-Wl,--wrap). Others open files, too: $readmemh of the design.
extern "C" FILE* __real_fopen(const char* path, const char* mode);
extern "C" FILE* __wrap_fopen(const char* path, const char* mode) {
    return opening && *mode == 'w' ? memory_file() : __real_fopen(path, mode);
}
extern "C" FILE* __wrap_tmpfile() { return memory_file(); }
extern "C" int __real_fclose(FILE* file);
extern "C" int __wrap_fclose(FILE* file) {
    const bool failed = ferror(file);
    const int closed = __real_fclose(file);
    cut_short |= failed || closed;
    return closed;
}
#endif

#ifdef LINKDOZE_TRACE

// Opens a waveform. Time 0 of the file is the first cycle after reset.
LINKDOZE_EXPORT int linkdoze_trace_open(void* handle, const char* path, uint64_t period_ps) {
    auto* instance = static_cast<Instance*>(handle);
    return guarded(instance, [&] {
        instance->context.timeunit(-12);
        instance->context.timeprecision(-12);
        instance->period_ps = period_ps;
        instance->trace = std::make_unique<Trace>();
        instance->model->trace(instance->trace.get(), 99);
        instance->trace->begin(path);
        instance->trace->check();
        if (!instance->trace->isOpen()) throw std::runtime_error("the waveform cannot be opened");
        return 0;
    });
}

// Clocks `count` runs without comparing, and writes every edge to the waveform if one is
// open: registers and inputs change with the rising edge, the clock falls half a period on.
LINKDOZE_EXPORT int linkdoze_trace_run(void* handle, const Run* runs, uint64_t count) {
    auto* instance = static_cast<Instance*>(handle);
    return guarded(instance, [&] {
        Model& model = *instance->model;
        Root& root = *model.rootp;
        Trace* const trace = instance->trace.get();
        for (uint64_t index = 0; index < count; index += PORTS) {
            for (uint64_t cycle = 0; cycle < runs[index].cycles; ++cycle) {
                drive(root, runs + index);
                drive_golden(root, runs + index, instance->cycle);
                root.clk = 1;
                model.eval();
                const uint64_t time = instance->cycle * instance->period_ps;
                if (trace) trace->dump(time);
                root.clk = 0;
                model.eval();
                if (trace) trace->dump(time + instance->period_ps / 2);
                root.clk = 1;
                model.eval();
                ++instance->cycle;
            }
            if (trace) trace->check();
        }
        return 0;
    });
}

LINKDOZE_EXPORT int linkdoze_trace_close(void* handle) {
    auto* instance = static_cast<Instance*>(handle);
    return guarded(instance, [&] {
        if (instance->trace) {
            instance->trace->dump(instance->cycle * instance->period_ps);
            instance->trace->finish();
            instance->trace.reset();
        }
        return 0;
    });
}

#endif
