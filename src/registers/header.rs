//! A C header: offsets, masks, shifts, and conversions to what the registers hold.

use std::fmt::Write;

use super::Space;
use crate::blocks::csr::map::{global_offset, Map, STRIDE};

/// The whole space as a C header (C99).
pub fn text(space: &Space) -> String {
    let guard = format!("LINKDOZE_{}_REGISTERS_H", space.module.to_uppercase());
    let [emitted, hashed] = space.origin();
    let mut out = format!(
        "/* Registers of {}.\n * {emitted}\n * {hashed}\n */\n\
         #ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n\n",
        space.module
    );
    match &space.all {
        Some((ports, _)) => {
            let _ = write!(
                out,
                "/* Address of the page of port k, and of the page of all ports. */\n\
                 #define LINKDOZE_PORTS {ports}u\n\
                 #define LINKDOZE_STRIDE {STRIDE:#x}u\n\
                 #define LINKDOZE_PORT(k) ((uint32_t)(k) * LINKDOZE_STRIDE)\n\
                 #define LINKDOZE_ALL {:#x}u\n\n",
                global_offset(*ports)
            );
        }
        None => {
            out.push_str("/* Address of the page of port k. */\n#define LINKDOZE_PORT(k) 0u\n\n")
        }
    }
    page(&mut out, "", "a port", &space.port);
    if let Some((_, all)) = &space.all {
        page(&mut out, "ALL_", "all ports", all);
    }
    let _ = write!(
        out,
        "/* A field of a register's value, and a value with the field replaced:\n\
         \x20* LINKDOZE_GET(value, CONTROL_POLICY), LINKDOZE_SET(value, CONTROL_POLICY, 1). */\n\
         #define LINKDOZE_GET(value, field) \\\n\
         \x20   (((uint32_t)(value) & LINKDOZE_##field##_MASK) >> LINKDOZE_##field##_SHIFT)\n\
         #define LINKDOZE_SET(value, field, new) \\\n\
         \x20   (((uint32_t)(value) & ~LINKDOZE_##field##_MASK) | \\\n\
         \x20    (((uint32_t)(new) << LINKDOZE_##field##_SHIFT) & LINKDOZE_##field##_MASK))\n\n\
         /* Whole ticks in a time in nanoseconds. */\n\
         #define LINKDOZE_TICK_PS UINT64_C({})\n\
         #define LINKDOZE_TICKS_FROM_NS(ns) ((uint64_t)(ns) * 1000u / LINKDOZE_TICK_PS)\n\
         /* Clock cycles, whole ones, that last as many nanoseconds or longer. */\n\
         #define LINKDOZE_CLOCK_PS UINT64_C({})\n\
         #define LINKDOZE_CYCLES_FROM_NS(ns) \\\n\
         \x20   (((uint64_t)(ns) * 1000u + LINKDOZE_CLOCK_PS - 1u) / LINKDOZE_CLOCK_PS)\n\
         /* The two words of a 64-bit value, and back. */\n\
         #define LINKDOZE_LOW(value) ((uint32_t)((uint64_t)(value) & 0xffffffffu))\n\
         #define LINKDOZE_HIGH(value) ((uint32_t)((uint64_t)(value) >> 32))\n\
         #define LINKDOZE_WIDE(low, high) ((uint64_t)(uint32_t)(high) << 32 | (uint32_t)(low))\n\
         /* bound from parts per million of performance that may be lost, below 1000000. */\n\
         #define LINKDOZE_BOUND_FROM_PPM(ppm) \\\n\
         \x20   ((uint32_t)((((uint64_t)(ppm) << 32) + 500000u) / 1000000u))\n\
         /* hop_factor if all packets take so many links, at least 1. */\n\
         #define LINKDOZE_HOP_FACTOR_FROM_HOPS(hops) ((uint32_t)(0x80000000u / (uint32_t)(hops)))\n\
         /* hop_factor from a sum of p/h in parts per million, at most 1000000. */\n\
         #define LINKDOZE_HOP_FACTOR_FROM_PPM(ppm) ((uint32_t)(((uint64_t)(ppm) << 31) / 1000000u))\n\n",
        space.tick_ps, space.clock_ps
    );
    if let Some(register) = space.agreed {
        let _ = writeln!(out, "{}", agreement(register));
    }
    out.push_str("#endif\n");
    out
}

/// An example for software: what the EEE TLV of LLDP has agreed about comes into force.
fn agreement(register: &str) -> String {
    format!(
        "/* Example: the LLDP agents of both ends have agreed on the time to wake (EEE TLV, IEEE 802.3,\n\
         \x20* 79.3.5), which is written in microseconds. It governs from the end of the next frame on. A longer\n\
         \x20* time is in force before the local agent advertises it, because the other end relies on it from then\n\
         \x20* on; a shorter one comes into force when the other end has echoed it.\n\
         \x20*\n\
         \x20* int eee_agreed(volatile uint32_t *port, uint16_t t_w_sys_us) {{\n\
         \x20*     uint64_t cycles = LINKDOZE_CYCLES_FROM_NS(1000u * t_w_sys_us);\n\
         \x20*     port[LINKDOZE_{register} / 4] = (uint32_t)cycles;\n\
         \x20*     if (port[LINKDOZE_{register} / 4] != cycles)\n\
         \x20*         return -1; // longer or shorter than port.timing_range allows\n\
         \x20*     port[LINKDOZE_COMMAND / 4] = LINKDOZE_COMMAND_APPLY_MASK;\n\
         \x20*     while (port[LINKDOZE_COMMAND / 4] & LINKDOZE_COMMAND_APPLY_MASK)\n\
         \x20*         ; // no frame has ended yet\n\
         \x20*     return 0;\n\
         \x20* }}\n\
         \x20*/\n"
    )
}

fn page(out: &mut String, prefix: &str, what: &str, page: &Map) {
    let _ = writeln!(out, "/* Registers of {what}: byte offsets in its page. */");
    for register in &page.registers {
        let _ = writeln!(
            out,
            "#define LINKDOZE_{prefix}{} {:#05x}u /* {} */",
            register.name.to_uppercase(),
            register.offset,
            register.doc
        );
    }
    let _ = writeln!(out, "\n/* Their fields. */");
    for register in &page.registers {
        for field in &register.fields {
            let name = format!(
                "LINKDOZE_{prefix}{}_{}",
                register.name.to_uppercase(),
                field.name.to_uppercase()
            );
            let _ = writeln!(out, "#define {name}_MASK {:#010x}u", field.mask());
            let _ = writeln!(out, "#define {name}_SHIFT {}u", field.low);
            let _ = writeln!(out, "#define {name}_RESET {:#x}u", field.reset);
            for (value, code, _) in field.values.iter().filter(|value| value.2) {
                let value = value.to_uppercase().replace('-', "_");
                let _ = writeln!(out, "#define {name}_{value} {code}u");
            }
        }
    }
    out.push('\n');
}
