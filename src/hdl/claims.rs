//! What the emitted Verilog claims about itself, and which of its parts these claims need.

use super::atoms::Claim;
use super::ir::{for_each_expr, BlockId, Design, Role};
use super::names::{self, CHECKER};

/// A claim of a design, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimText {
    /// Its name by instances from the top: `u_fsm.u_checker.legal_state`.
    pub name: String,
    /// What it says.
    pub says: String,
    /// What it is there for.
    pub kind: Claim,
}

impl Design {
    /// The instances that neither make a claim, in themselves or below, nor are read by one, as
    /// Yosys selects them: `port/u_fsm`.
    pub fn instances_without_claims(&self) -> Vec<String> {
        let claims: Vec<BlockId> = (0..self.blocks.len())
            .filter(|&block| self.live_claims(block).next().is_some())
            .collect();
        let mut needed = vec![false; self.blocks.len()];
        let mut need = |block: BlockId| {
            let mut at = Some(block);
            while let Some(block) = at {
                needed[block] = true;
                at = self.blocks[block].parent;
            }
        };
        claims.iter().copied().for_each(&mut need);
        for block in &self.blocks {
            for group in block.groups.iter().filter(|group| group.formal) {
                for_each_expr(&group.statements, &mut |expr| {
                    expr.reads(&mut |net| {
                        if let Role::RegisterQ(_) = self.nets[net].role {
                            need(self.nets[net].block);
                        }
                    });
                });
            }
        }
        let cut = self.blocks.iter().enumerate().filter(|(id, block)| {
            block.live && !needed[*id] && block.parent.is_some_and(|parent| needed[parent])
        });
        cut.map(|(_, block)| {
            let parent = block
                .parent
                .map_or("", |parent| &self.blocks[parent].module);
            format!("{parent}/{}", names::instance(block))
        })
        .collect()
    }

    /// Every claim that the Verilog makes, blocks before their children.
    pub fn claims(&self) -> Vec<ClaimText> {
        let mut claims = Vec::new();
        for block in 0..self.blocks.len() {
            for register in self.live_claims(block) {
                claims.extend(register.claim.map(|kind| ClaimText {
                    name: names::within(self, 0, block, &format!("{CHECKER}.{}", register.name)),
                    says: register.doc.clone(),
                    kind,
                }));
            }
        }
        claims
    }
}
