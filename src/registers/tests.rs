//! The files agree with the map, and compilers take them.

use std::process::Command;

use super::Space;
use crate::blocks::csr::map;
use crate::blocks::csr::tests::plan;
use crate::config::plan::Policy;

fn files(ports: Option<u32>) -> Vec<(String, String)> {
    Space::new(&plan(Policy::PerfBound, 40), ports, 1000, "abc".into()).files()
}

/// What a C program prints that reads a header, compiled under the strictest warnings.
fn printed(header: &str, text: &str, program: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(header), text).unwrap();
    std::fs::write(folder.path().join("main.c"), program).unwrap();
    let warnings = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"];
    let built = Command::new("cc")
        .args(warnings)
        .args(["main.c", "-o", "main"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{said}");
    let output = Command::new(folder.path().join("main")).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
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
        print("LINKDOZE_CYCLES_FROM_NS(5000)".into(), 5000);
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
        assert_eq!(printed(&name, &text, &program), expected);
    }
}

/// The example of a port of Ethernet is compiled, and sets registers that lie in memory.
#[test]
fn the_example_of_an_agreement_sets_the_time() {
    let text =
        "[clock]\nperiod_ps = 6400\n[port]\nsync = \"lpi\"\nregisters = true\ntiming_range = 4\n";
    let config = crate::config::Config::parse(text, "port.toml").unwrap();
    let plan = config.plan().unwrap();
    let space = Space::new(&plan, None, config.clock.tick_ps, "abc".into());
    let (name, text) = space.files().remove(1);
    let example = text.split("/* Example: ").nth(1).unwrap();
    let example = example.split("*/").next().unwrap();
    let lines: Vec<&str> = (example.lines())
        .skip_while(|line| !line.contains("int eee_agreed"))
        .filter_map(|line| line.strip_prefix(" * "))
        .map(|line| line.split(" //").next().unwrap())
        .collect();
    // 7 us in cycles of 6.4 ns, rounded up. Memory does not clear apply: the program does not wait for it.
    let program = format!(
        "#include \"{name}\"\n#include <stdio.h>\n{}\nint main(void) {{\n\
         \x20 static uint32_t page[1024];\n\
         \x20 int answer = eee_agreed(page, 7);\n\
         \x20 printf(\"%d %u %u\\n\", answer, (unsigned)page[LINKDOZE_T_W_DEEP_SLEEP / 4],\n\
         \x20        (unsigned)page[LINKDOZE_COMMAND / 4]);\n\
         \x20 return 0;\n}}\n",
        lines
            .join("\n")
            .replace("LINKDOZE_COMMAND_APPLY_MASK)\n", "0u)\n")
            .replace("int eee_agreed", "static int eee_agreed")
    );
    assert_eq!(printed(&name, &text, &program), "0 1094 1\n");
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
