//! The files agree with the map, and compilers take them.

use std::process::Command;

use super::Space;
use crate::blocks::csr::map;
use crate::blocks::csr::tests::plan;
use crate::config::plan::Policy;

fn files(ports: Option<u32>) -> Vec<(String, String)> {
    Space::new(&plan(Policy::PerfBound, 40), ports, 1000, "abc".into()).files()
}

/// A C program sees the offsets, masks and values of the map, under the strictest warnings.
#[test]
fn a_c_compiler_takes_the_header() {
    let page = map::port(&plan(Policy::PerfBound, 40));
    for ports in [None, Some(16)] {
        let (name, text) = files(ports).remove(1);
        let mut program = format!("#include \"{name}\"\n#include <stdio.h>\nint main(void) {{\n");
        let mut expected = String::new();
        let mut print = |expression: String, value: u64| {
            program.push_str(&format!(
                "  printf(\"%llu\\n\", (unsigned long long)({expression}));\n"
            ));
            expected.push_str(&format!("{value}\n"));
        };
        for register in &page.registers {
            let upper = register.name.to_uppercase();
            print(format!("LINKDOZE_{upper}"), register.offset.into());
            for field in &register.fields {
                let full = format!("LINKDOZE_{upper}_{}", field.name.to_uppercase());
                print(format!("{full}_MASK"), field.mask().into());
                print(format!("{full}_SHIFT"), field.low.into());
                print(format!("{full}_RESET"), field.reset.into());
            }
        }
        // 0.01 * 2^32 = 42949672.96; 2^31 / 4; 0.25 * 2^31; 5 us in ticks of 1 ns.
        print("LINKDOZE_BOUND_FROM_PPM(10000)".into(), 42_949_673);
        print("LINKDOZE_HOP_FACTOR_FROM_HOPS(4)".into(), 1 << 29);
        print("LINKDOZE_HOP_FACTOR_FROM_PPM(250000)".into(), 1 << 29);
        print("LINKDOZE_TICKS_FROM_NS(5000)".into(), 5000);
        print("LINKDOZE_GET(0x35, CONTROL_POLICY)".into(), 3);
        print(
            "LINKDOZE_SET(0x35, CONTROL_POLICY, LINKDOZE_CONTROL_POLICY_FIXED)".into(),
            0x15,
        );
        print(
            "LINKDOZE_WIDE(LINKDOZE_LOW(0x123456789abu), LINKDOZE_HIGH(0x123456789abu))".into(),
            0x123_4567_89ab,
        );
        if ports.is_some() {
            print("LINKDOZE_PORT(3)".into(), 0x3000);
            print("LINKDOZE_ALL".into(), 0x10000);
            print("LINKDOZE_PORTS".into(), 16);
        }
        program.push_str("  return 0;\n}\n");
        // What the page of registers shows to software.
        let page = include_str!("../../docs/reference/registers.md");
        let handler = page.split("```c\n").nth(1).unwrap();
        let handler = handler.split("```").next().unwrap();
        program += &format!(
            "void handle(volatile uint32_t *port);\nvoid handle(volatile uint32_t *port) {{\n{}}}\n",
            handler.replace("/* ... */", "(void)errors;")
        );
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(&name), text).unwrap();
        std::fs::write(folder.path().join("main.c"), program).unwrap();
        let built = Command::new("cc")
            .args([
                "-std=c99",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-pedantic",
                "main.c",
                "-o",
                "main",
            ])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(
            built.status.success(),
            "{}",
            String::from_utf8_lossy(&built.stderr)
        );
        let output = Command::new(folder.path().join("main")).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    }
}

#[test]
fn every_register_is_in_every_file() {
    let page = map::port(&plan(Policy::PerfBound, 40));
    for (name, text) in files(Some(4)) {
        for register in &page.registers {
            let offset = format!("{:#x}", register.offset);
            let wide = format!("{:#05x}", register.offset);
            let line = text.lines().find(|line| {
                let words: Vec<&str> = line
                    .split(|c: char| !c.is_alphanumeric() && c != '_')
                    .collect();
                let upper = format!("LINKDOZE_{}", register.name.to_uppercase());
                (words.contains(&register.name) || words.contains(&upper.as_str()))
                    && (words.contains(&offset.as_str())
                        || words.contains(&wide.as_str())
                        || words.contains(&format!("{wide}u").as_str()))
            });
            assert!(line.is_some(), "{name}: {}", register.name);
        }
    }
}
