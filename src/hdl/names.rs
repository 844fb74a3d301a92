//! The names in the emitted Verilog.

use std::collections::{BTreeSet, HashMap};

use super::code::Code;
use super::error::ElabError;
use super::ir::{for_each_expr, Block, Design, Expr, MemoryBlock, Net, NetId, Role, Statement};
use super::values::Type;

/// Words that Verilog-2005 or SystemVerilog reserves: tools read `.v` files as either.
const RESERVED: &str = "
    accept_on alias always always_comb always_ff always_latch and assert assign assume
    automatic before begin bind bins binsof bit break buf bufif0 bufif1 byte case casex casez
    cell chandle checker class clocking cmos config const constraint context continue cover
    covergroup coverpoint cross deassign default defparam design disable dist do edge else end
    endcase endchecker endclass endclocking endconfig endfunction endgenerate endgroup
    endinterface endmodule endpackage endprimitive endprogram endproperty endsequence
    endspecify endtable endtask enum event eventually expect export extends extern final
    first_match for force foreach forever fork forkjoin function generate genvar global highz0
    highz1 if iff ifnone ignore_bins illegal_bins implements implies import incdir include
    initial inout input inside instance int integer interconnect interface intersect join
    join_any join_none large let liblist library local localparam logic longint macromodule
    matches medium modport module nand negedge nettype new nexttime nmos nor noshowcancelled
    not notif0 notif1 null or output package packed parameter pmos posedge primitive priority
    program property protected pull0 pull1 pulldown pullup pulsestyle_ondetect
    pulsestyle_onevent pure rand randc randcase randsequence rcmos real realtime ref reg
    reject_on release repeat restrict return rnmos rpmos rtran rtranif0 rtranif1 s_always
    s_eventually s_nexttime s_until s_until_with scalared sequence shortint shortreal
    showcancelled signed small soft solve specify specparam static string strong strong0
    strong1 struct super supply0 supply1 sync_accept_on sync_reject_on table tagged task this
    throughout time timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand trior
    trireg type typedef union unique unique0 unsigned until until_with untyped use uwire var
    vectored virtual void wait wait_order wand weak weak0 weak1 while wildcard wire with
    within wor xnor xor
";

/// `GoingDown` or `going_down` as `GOING_DOWN`.
pub(crate) fn upper(name: &str) -> String {
    let mut out = String::new();
    let mut lower_before = false;
    for char in name.chars() {
        if char.is_uppercase() && lower_before {
            out.push('_');
        }
        lower_before = char.is_lowercase() || char.is_ascii_digit();
        out.extend(char.to_uppercase());
    }
    out
}

/// The `localparam` of a state: `PHASE_IDLE`.
pub(crate) fn state(type_name: &str, variant: &str) -> String {
    format!("{}_{}", upper(type_name), upper(variant))
}

/// The name of a net within `block`, which is its own or a pin of a child.
pub(crate) fn seen(design: &Design, block: usize, net: NetId) -> String {
    let declared = &design.nets[net];
    if declared.block == block {
        declared.printed.clone()
    } else {
        format!(
            "{}_{}",
            design.blocks[declared.block].name, declared.printed
        )
    }
}

/// The module of all memories, those inside the memories with a code among them.
pub(crate) fn memory_module(design: &Design) -> String {
    format!("{}ram_1r1w", design.prefix)
}

/// The module of all memories with a code.
pub(crate) fn coded_module(design: &Design, code: Code) -> String {
    format!("{}{}", design.prefix, code.module())
}

/// The module that a memory is an instance of.
pub(crate) fn module_of(design: &Design, memory: &MemoryBlock) -> String {
    match memory.checks {
        Some(checks) => coded_module(design, checks.code),
        None => memory_module(design),
    }
}

/// The module of all registers that are kept in copies.
pub(crate) fn voted_module(design: &Design) -> String {
    format!("{}voted_register", design.prefix)
}

/// The name of a memory's instance.
pub(crate) fn memory(memory: &MemoryBlock) -> String {
    format!("u_{}", memory.name.replace('$', "_"))
}

/// The name of a child's instance.
pub(crate) fn instance(child: &Block) -> String {
    format!("u_{}", child.name)
}

/// The instance of a checker in the module that it is bound to.
pub const CHECKER: &str = "u_checker";

/// What is called `name` in block `below`, by its path through the instances from `block`.
pub(crate) fn within(design: &Design, block: usize, below: usize, name: &str) -> String {
    match design.blocks[below].parent {
        Some(parent) if below != block => {
            let name = format!("{}.{name}", instance(&design.blocks[below]));
            within(design, block, parent, &name)
        }
        _ => name.into(),
    }
}

/// The port of a checker for the register of a block below that has this path.
pub(crate) fn port(path: &str) -> String {
    path.replace('.', "_")
}

/// The states that a block names in its hardware, or those that its checker names, by type
/// name: the whole type is declared with them.
pub(crate) fn used_states(design: &Design, block: usize, formal: bool) -> Vec<(String, u128)> {
    fn expr_states(expr: &Expr, out: &mut Vec<(String, u128)>) {
        match expr {
            Expr::State { name, value, .. } => out.push((name.clone(), *value)),
            Expr::Literal { .. } | Expr::Net { .. } => {}
            Expr::Not(of) | Expr::Reduce(_, of) => expr_states(of, out),
            Expr::Extend { of, .. } | Expr::Slice { of, .. } => expr_states(of, out),
            Expr::Binary { left, right, .. } => {
                expr_states(left, out);
                expr_states(right, out);
            }
            Expr::BitAt { index, .. } => expr_states(index, out),
            Expr::Concat(parts) => parts.iter().for_each(|part| expr_states(part, out)),
            Expr::Select { test, yes, no } => {
                expr_states(test, out);
                expr_states(yes, out);
                expr_states(no, out);
            }
        }
    }
    fn arms(statements: &[Statement], out: &mut Vec<(String, u128)>) {
        for statement in statements {
            match statement {
                Statement::If {
                    then, otherwise, ..
                } => {
                    arms(then, out);
                    arms(otherwise, out);
                }
                Statement::Case {
                    arms: list,
                    default,
                    ..
                } => {
                    for arm in list {
                        // The arm of a `match` on a bit carries a literal.
                        let is_literal = arm.state.contains('\'');
                        let is_printed = !default.is_empty() || !arm.body.is_empty();
                        if !is_literal && is_printed {
                            out.push((arm.state.clone(), arm.value));
                        }
                        arms(&arm.body, out);
                    }
                    arms(default, out);
                }
                Statement::Assign { .. } | Statement::Comment(_) => {}
            }
        }
    }
    let declared = &design.blocks[block];
    let mut out = Vec::new();
    for group in declared.groups.iter().filter(|it| it.formal == formal) {
        arms(&group.statements, &mut out);
        for_each_expr(&group.statements, &mut |expr| expr_states(expr, &mut out));
    }
    for &register in &declared.registers {
        let register = &design.registers[register];
        let q = &design.nets[register.q];
        let printed = q.live && q.formal == formal;
        if let (true, Type::State { name, variants }) = (printed, &q.kind) {
            if let Some((variant, _)) = variants.get(register.reset_value as usize) {
                out.push((state(name, variant), register.reset_value));
            }
        }
    }
    out.sort();
    out.dedup();
    out
}

/// Names every net and refuses names that Verilog could not take.
pub(crate) fn assign(design: &mut Design) -> Result<(), ElabError> {
    let registers = &design.registers;
    for net in &mut design.nets {
        let plain = net.name.replace('.', "_");
        net.printed = match net.role {
            Role::Constant => upper(&plain),
            Role::Local if net.value.is_some() => upper(&plain),
            Role::RegisterD(register) if registers[register].claim.is_some() => {
                format!("{}_holds", registers[register].name)
            }
            // A register that became a constant loses its side.
            Role::RegisterQ(_) if net.value.is_some() => upper(plain.trim_end_matches("_q")),
            _ => plain,
        };
    }
    for (index, block) in design.blocks.iter().enumerate() {
        if block.live {
            check(design, index, block)?;
        }
    }
    Ok(())
}

fn check(design: &Design, index: usize, block: &Block) -> Result<(), ElabError> {
    let mut taken: HashMap<String, String> = HashMap::new();
    let legal = |name: &str, what: &str| {
        let why = if RESERVED.split_whitespace().any(|word| word == name) {
            "it is a reserved word of Verilog or SystemVerilog"
        } else if !name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            || !name
                .chars()
                .all(|char| char.is_ascii_alphanumeric() || char == '_')
        {
            "names are made of letters, digits and `_`, and do not begin with a digit"
        } else {
            return Ok(());
        };
        Err(ElabError::BadName {
            block: block.path.clone(),
            name: name.into(),
            what: what.into(),
            why: why.into(),
        })
    };
    legal(&block.module, "the module")?;
    let mut take = |name: String, what: String| {
        legal(&name, &what)?;
        match taken.get(&name) {
            Some(first) if *first != what => Err(ElabError::NameCollision {
                block: block.path.clone(),
                name,
                first: first.clone(),
                second: what,
            }),
            _ => {
                taken.insert(name, what);
                Ok(())
            }
        }
    };
    let own = design.nets.iter().enumerate().filter(|(_, net)| {
        net.live
            && net.block == index
            && !matches!(
                net.role,
                Role::RegisterClock(_) | Role::RegisterReset(_) | Role::MemoryClock(_)
            )
    });
    let mut nets: HashMap<&str, &Net> = HashMap::new();
    for (_, net) in own {
        let what = format!("`{}`", net.name);
        // Two sections of a block may have signals of one name. Constants that are the same are
        // printed once.
        let same = |other: &Net| {
            net.role == Role::Constant
                && other.role == Role::Constant
                && (net.width, net.value) == (other.width, other.value)
        };
        if nets
            .insert(&net.printed, net)
            .is_some_and(|other| !same(other))
        {
            return Err(ElabError::NameCollision {
                block: block.path.clone(),
                name: net.printed.clone(),
                first: what.clone(),
                second: what,
            });
        }
        take(net.printed.clone(), what)?;
    }
    for &memory in &block.memories {
        let found = &design.memories[memory];
        if design.nets[found.read_data].live {
            take(self::memory(found), format!("the memory `{}`", found.name))?;
        }
    }
    for &child in &block.children {
        let child = &design.blocks[child];
        if !child.live {
            continue;
        }
        take(instance(child), format!("the instance of `{}`", child.name))?;
        for &net in &child.nets {
            let pin = &design.nets[net];
            if pin.live && matches!(pin.role, Role::Input | Role::Output) {
                take(
                    seen(design, index, net),
                    format!("`{}.{}`", child.name, pin.name),
                )?;
            }
        }
    }
    for formal in [false, true] {
        for (name, _) in used_states(design, index, formal) {
            let what = format!("the state {name}");
            take(name, what)?;
        }
    }
    take(CHECKER.into(), "the instance of the checker".into())?;
    let mut inner = BTreeSet::new();
    for group in block.groups.iter().filter(|group| group.formal) {
        for_each_expr(&group.statements, &mut |expr| {
            expr.reads(&mut |net| {
                let read = &design.nets[net];
                if matches!(read.role, Role::RegisterQ(_)) && read.block != index {
                    inner.insert(net);
                }
            });
        });
    }
    for net in inner {
        let read = &design.nets[net];
        let path = within(design, index, read.block, &read.printed);
        take(port(&path), format!("the checker's port for `{path}`"))?;
    }
    for claim in design.live_claims(index) {
        take(claim.name.clone(), format!("the claim `{}`", claim.name))?;
    }
    Ok(())
}
