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
    /// The checkers, by instances from the top (`u_fsm.u_checker`), blocks before their children.
    pub fn checkers(&self) -> Vec<String> {
        let blocks = (0..self.blocks.len()).filter(|&block| self.claims_something(block));
        blocks.map(|block| self.checker(block)).collect()
    }

    fn claims_something(&self, block: BlockId) -> bool {
        self.live_claims(block).next().is_some()
    }

    fn checker(&self, block: BlockId) -> String {
        names::within(self, 0, block, CHECKER)
    }

    /// The instances that neither make a claim, in themselves or below, nor are read by one, as
    /// Yosys selects them: `port/u_fsm`. Of claims, those of the checkers that are `wanted` count.
    pub fn instances_without_claims(&self, wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let makes_wanted =
            |block: BlockId| self.claims_something(block) && wanted(&self.checker(block));
        let claims: Vec<BlockId> = (0..self.blocks.len())
            .filter(|&block| makes_wanted(block))
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
        for (id, block) in self.blocks.iter().enumerate() {
            if !makes_wanted(id) {
                continue;
            }
            for group in block.groups.iter().filter(|group| group.formal) {
                for_each_expr(&group.statements, &mut |expr| {
                    expr.reads(&mut |net| {
                        if let Role::RegisterQ(_) | Role::Output = self.nets[net].role {
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
