//! Golden model of the power-down timer.

/// Cycle-exact model of the power-down timer (SPEC 3).
#[derive(Clone, Debug)]
pub struct PdtTimer {
    /// The threshold that governs the present idle period, or the next, in ticks.
    in_force: u64,
    /// How long a port waits at least that did not transmit last, in ticks; `None`: for ever.
    backstop: Option<u64>,
    /// This port was the last transmitter, or has not been active since reset.
    last_sender: bool,
}

impl PdtTimer {
    /// A timer just after reset, with the threshold before the first sample and the backstop.
    pub fn new(t_pdt_init: u64, backstop: Option<u64>) -> Self {
        PdtTimer {
            in_force: t_pdt_init,
            backstop,
            last_sender: true,
        }
    }

    /// From the next cycle on, so long does a port wait at least that did not transmit last, in
    /// ticks. It changes at the end of an active cycle, or never.
    #[inline]
    pub fn set_backstop(&mut self, backstop: Option<u64>) {
        self.backstop = backstop;
    }

    /// `t_PDT` in force, in ticks.
    #[inline]
    pub fn in_force(&self) -> u64 {
        self.in_force
    }

    /// The port transmitted last, or never was active.
    #[inline]
    pub fn sent_last(&self) -> bool {
        self.last_sender
    }

    /// The idle period has to be longer than so many ticks for the timer to expire; `None`: it
    /// does not expire.
    #[inline]
    pub fn threshold(&self) -> Option<u64> {
        if self.last_sender {
            Some(self.in_force)
        } else {
            self.backstop.map(|backstop| backstop.max(self.in_force))
        }
    }

    /// Nothing changes while these inputs hold.
    #[inline]
    pub fn steady(&self, active: bool, transmitting: bool, t_pdt: u64) -> bool {
        !active || (self.in_force == t_pdt && self.last_sender == transmitting)
    }

    /// Calls `visit` with the registers that time changes, `exceeded` being whether the present
    /// idle stretch is longer than so many ticks. Only a port that asks again (`again`), or has a
    /// backstop (`backstops`), remembers that it was longer than the threshold.
    pub fn time_registers(
        &self,
        again: bool,
        backstops: bool,
        exceeded: impl Fn(u64) -> bool,
        visit: &mut impl FnMut(&'static str, u64),
    ) {
        if again || backstops {
            visit("u_pdt_timer.passed_q", exceeded(self.in_force).into());
        }
        if backstops {
            let passed = self.backstop.is_some_and(exceeded);
            visit("u_pdt_timer.backstop_passed_q", passed.into());
        }
    }

    /// The clock edge at the end of a cycle.
    #[inline]
    pub fn clock(&mut self, active: bool, transmitting: bool, t_pdt: u64) {
        if active {
            self.in_force = t_pdt;
            self.last_sender = transmitting;
        }
    }
}
