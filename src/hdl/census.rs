//! Every state bit of a design, by block and name.

use serde::Serialize;

use super::ir::{Design, MemoryBlock};

/// What holds the bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Storage {
    /// Flip-flops with reset.
    Register,
    /// The words of a memory.
    Memory,
    /// The output register of a memory's read port; block RAM contains it.
    MemoryOutput,
}

/// One register or memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The block's path by instance names, the top first: `port.histogram`.
    pub block: String,
    /// The name in the description.
    pub name: String,
    /// What it is for, as the Verilog says beside its declaration.
    pub purpose: String,
    /// What holds the bits.
    pub storage: Storage,
    /// Words; 1 for registers.
    pub depth: usize,
    /// Bits per word, those of a code among them.
    pub width: u32,
    /// How many of these are of the memory's code.
    pub check_bits: u32,
    /// `depth * width`.
    pub bits: u64,
}

/// All registers and memories of a design.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Census {
    /// In the order of declaration, blocks before their children.
    pub entries: Vec<Entry>,
    /// Bits in registers.
    pub register_bits: u64,
    /// Bits in memories, output registers left out.
    pub memory_bits: u64,
    /// Bits in the output registers of memories.
    pub memory_output_bits: u64,
}

/// Counts what was elaborated: what was dropped because nothing reads it, or became a
/// constant, is not there.
pub fn count(design: &Design) -> Census {
    let mut entries = Vec::new();
    let mut push =
        |block: usize, name: &str, purpose: &str, storage, depth: usize, width, check| {
            let stored: u32 = width + check;
            entries.push(Entry {
                block: design.blocks[block].path.clone(),
                name: name.into(),
                purpose: purpose.into(),
                storage,
                depth,
                width: stored,
                check_bits: check,
                bits: depth as u64 * u64::from(stored),
            });
        };
    for (id, block) in design.blocks.iter().enumerate() {
        for &index in &block.registers {
            let copies = if design.in_copies(index) { 3 } else { 1 };
            let register = &design.registers[index];
            let q = &design.nets[register.q];
            if q.live && !q.formal && q.value.is_none() && !register.votes {
                let (name, purpose) = (&register.name, &register.doc);
                push(id, name, purpose, Storage::Register, 1, copies * q.width, 0);
            }
        }
        for &memory in &block.memories {
            let memory = &design.memories[memory];
            if design.nets[memory.read_data].live {
                let MemoryBlock {
                    name, doc, depth, ..
                } = memory;
                let (width, check) = (memory.width, memory.check_bits());
                push(id, name, doc, Storage::Memory, *depth, width, check);
                push(id, name, doc, Storage::MemoryOutput, 1, width, check);
            }
        }
    }
    let total = |storage| {
        let chosen = entries.iter().filter(|entry| entry.storage == storage);
        chosen.map(|entry| entry.bits).sum()
    };
    Census {
        register_bits: total(Storage::Register),
        memory_bits: total(Storage::Memory),
        memory_output_bits: total(Storage::MemoryOutput),
        entries,
    }
}
