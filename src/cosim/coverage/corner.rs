//! The corners of SPEC 2 to 7, and which configurations have them.

use crate::blocks::histogram::bin_meter::golden::Edges;
use crate::blocks::histogram::map;
use crate::blocks::link_sync::start_cycles;
use crate::blocks::port::pins::PowerState;
use crate::config::plan::{HistogramKind, Policy, PortPlan, Sleep};

macro_rules! corners {
    ($($name:ident = $text:literal, $what:literal $(, $needs:ident)?;)*) => {
        /// A corner of the behaviour of a port.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Corner { $(#[doc = $what] $name),* }

        impl Corner {
            /// Every corner.
            pub const ALL: &'static [Corner] = &[$(Corner::$name),*];

            /// The name in reports and JSON.
            pub fn name(self) -> &'static str {
                match self { $(Corner::$name => $text),* }
            }

            /// What has to happen.
            pub fn what(self) -> &'static str {
                match self { $(Corner::$name => $what),* }
            }

            /// What a port must be able to do.
            fn needs(self) -> Needs {
                match self { $(Corner::$name => [$(Needs::$needs,)? Needs::Sleep][0]),* }
            }
        }
    };
}

/// What a port must be able to do to reach a corner.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// Nothing: one that never sleeps can reach it.
    Awake,
    /// Nor need it sleep for what happens to a map.
    Map,
    Sleep,
    /// To exchange messages, and to sleep.
    Messages,
    /// To clear its histogram.
    Clears,
    FastWake,
    DeepSleep,
    Refresh,
    /// That software sets the times of the link; nothing else.
    Times,
    /// To predict; nothing else.
    Samples,
    /// To correct what it predicts, and to sleep.
    Corrects,
    /// A guard, and to sleep.
    Guarded,
    /// A guard, and to exchange messages.
    GuardedMessages,
    /// A guard, and levels instead of messages.
    GuardedLevels,
    /// To tell software of the low power idle that the shims see; nothing else.
    Lpi,
    /// To count packets by their hops; nothing else.
    Hops,
    /// To be asked for bins of its histogram.
    Bins,
    /// To be asked by software, and to set an error flag.
    Errors,
    /// Registers in three copies; nothing else, or to sleep, or to exchange messages.
    Upsets,
    SleepUpsets,
    MessageUpsets,
}

corners! {
    Idle1 = "idle-1-cycle", "idle period of one cycle", Awake;
    Idle2 = "idle-2-cycles", "idle period of two cycles", Awake;
    Hardest = "hardest-traffic", "1000 cycles with a sample every second or third", Awake;
    BelowPdt = "idle-t_pdt-minus-1", "armed idle period of t_pdt - 1 ticks";
    AtPdt = "idle-t_pdt", "armed idle period of exactly t_pdt ticks";
    AbovePdt = "idle-t_pdt-plus-1", "armed idle period of t_pdt + 1 ticks";
    BelowBin = "idle-bin-end", "idle period that ends one tick below a bin's boundary", Awake;
    AtBin = "idle-bin-begin", "idle period that ends on a bin's boundary", Awake;
    BelowMax = "idle-max-minus-1", "idle period of h_maxval - 1 ticks", Awake;
    AtMax = "idle-max", "idle period of h_maxval ticks", Awake;
    AboveMax = "idle-max-plus-1", "idle period of h_maxval + 1 ticks", Awake;
    IdleSaturated = "idle-saturated", "idle period at which the counter saturates", Awake;
    WindowSaturated = "window-saturated", "threshold from a saturated window";
    Halved = "halving", "threshold after counters and window were halved";
    ClearBySamples = "clear-by-samples", "sample that clears a full histogram", Clears;
    ClearByTtl = "clear-by-ttl", "sample that clears an expired histogram", Clears;
    ClearAtTtl = "clear-at-ttl", "sample in the very cycle in which the histogram expires", Clears;
    MapOverflow = "map-overflow", "sample that finds no free entry in the map", Map;
    MapTop = "map-insert-top", "new entry above all others of the map", Map;
    MapMiddle = "map-insert-middle", "new entry between others of the map", Map;
    MapBottom = "map-insert-bottom", "new entry below all others of the map", Map;
    MapSaturated = "map-counter-saturated", "sample for an entry whose counter is full", Map;
    ReceiveOnly = "receive-only", "idle beyond t_pdt, not beyond the backstop, after receiving only";
    Backstop = "backstop", "goes down after receiving only, beyond the backstop";
    Unused = "unused", "goes down before any activity since reset";
    AsksAgain = "asks-again", "asks once more to go down in the same idle time", Messages;
    Refused = "permit-refused", "timer expired while the other end did not permit to sleep";
    ArriveGoingDown = "packet-going-down", "packet arrives while going down";
    ArriveGoingDownFirst = "packet-going-down-first", "packet arrives in the first cycle of going down";
    ArriveGoingDownLast = "packet-going-down-last", "packet arrives in the last cycle of going down";
    ArriveFastWake = "packet-fast-wake", "packet arrives in FAST_WAKE (with hybrid: during the hold)", FastWake;
    ArriveDeepSleep = "packet-deep-sleep", "packet arrives in DEEP_SLEEP", DeepSleep;
    ArriveRefresh = "packet-refresh", "packet arrives during a refresh", Refresh;
    ArriveGoingUp = "packet-going-up", "packet arrives while going up";
    ArriveGoingUpLast = "packet-going-up-last", "packet arrives in the last cycle of going up";
    RemoteDownIdle = "remote-down-idle", "the other end goes down while this one is awake and idle", Awake;
    RemoteDownActive = "remote-down-active", "the other end goes down while this one is active", Awake;
    RemoteDownElse = "remote-down-elsewhere", "remote_down while not awake";
    RemoteUpGoingDown = "remote-up-going-down", "the other end asks to wake while going down";
    RemoteUpFastWake = "remote-up-fast-wake", "the other end asks to wake in FAST_WAKE", FastWake;
    RemoteUpDeepSleep = "remote-up-deep-sleep", "the other end asks to wake in DEEP_SLEEP", DeepSleep;
    RemoteUpRefresh = "remote-up-refresh", "the other end asks to wake during a refresh", Refresh;
    RemoteUpGoingUp = "remote-up-going-up", "the other end asks to wake while going up";
    RemoteUpWake = "remote-up-wake", "remote_up while awake", Awake;
    ResetWake = "reset-wake", "reset while awake", Awake;
    ResetGoingDown = "reset-going-down", "reset while going down";
    ResetFastWake = "reset-fast-wake", "reset in FAST_WAKE", FastWake;
    ResetDeepSleep = "reset-deep-sleep", "reset in DEEP_SLEEP", DeepSleep;
    ResetRefresh = "reset-refresh", "reset during a refresh", Refresh;
    ResetGoingUp = "reset-going-up", "reset while going up";
    DownByRequest = "down-by-own-request", "goes down by a request of its own", Messages;
    DownByAnswer = "down-by-other-request", "goes down by a request of the other end", Messages;
    UpByRequest = "up-by-own-request", "goes up by a request of its own", Messages;
    UpByAnswer = "up-by-other-request", "goes up by a request of the other end", Messages;
    AskUpGoingDown = "ask-up-going-down", "asks to wake while still going down", Messages;
    Declined = "request-declined", "answers a request to go down with NACK", Messages;
    Withdrawn = "request-withdrawn", "activity between a request to go down and its ACK", Messages;
    Released = "promise-released", "the other end withdraws after this end's ACK", Messages;
    CrossDownOn = "crossing-down-goes-on", "both ask to go down, this end is the initiator", Messages;
    CrossDownYields = "crossing-down-yields", "both ask to go down, the other end is the initiator", Messages;
    CrossUpOn = "crossing-up-goes-on", "both ask to wake, this end is the initiator", Messages;
    CrossUpYields = "crossing-up-yields", "both ask to wake, the other end is the initiator", Messages;
    CrossDownUp = "crossing-down-up", "the other end asks to wake, this end to go down", Messages;
    NoAnswer = "no-answer", "the other end does not answer in time", Messages;
    Stale = "stale-answer", "ACK, NACK or SYNC that nothing waits for", Messages;
    Illegal = "illegal-message", "message with code 6 or 7", Messages;
    Glitch = "glitch", "one cycle of activity without a packet", Awake;
    HopsMin = "hops-0", "packet with hop count 0", Awake;
    HopsMax = "hops-63", "packet with hop count 63", Awake;
    InGoingDown = "state-going-down", "visit of GOING_DOWN";
    InFastWake = "state-fast-wake", "visit of FAST_WAKE", FastWake;
    InDeepSleep = "state-deep-sleep", "visit of DEEP_SLEEP", DeepSleep;
    InRefresh = "state-refresh", "visit of REFRESH", Refresh;
    InGoingUp = "state-going-up", "visit of GOING_UP";
    Hit = "hit", "hit reported", Awake;
    Miss = "miss", "miss reported";
    Update = "update", "threshold recomputed";
    SameBinNext = "same-bin-2", "sample of the same bin two cycles after another", Samples;
    SameBinAfter = "same-bin-3", "sample of the same bin three cycles after another", Samples;
    BudgetNone = "budget-0", "threshold with a budget of no packet", Samples;
    BudgetOne = "budget-1", "threshold with a budget of one packet", Samples;
    BudgetSome = "budget-some", "budget of more packets than one, of less than half of a window", Samples;
    BudgetMost = "budget-most", "budget of at least half of the packets of a window", Samples;
    ThresholdLowest = "t_pb-lowest", "threshold in the lowest bin", Samples;
    ThresholdFirst = "t_pb-quarter-1", "threshold in the first quarter of the bins", Samples;
    ThresholdSecond = "t_pb-quarter-2", "threshold in the second quarter of the bins", Samples;
    ThresholdThird = "t_pb-quarter-3", "threshold in the third quarter of the bins", Samples;
    ThresholdFourth = "t_pb-quarter-4", "threshold in the last quarter of the bins", Samples;
    ThresholdNever = "t_pb-max", "threshold of h_maxval: no bin suffices", Samples;
    Uncorrected = "correction-none", "threshold without a miss in the history", Corrects;
    CorrectedOnce = "correction-one-miss", "one miss raises the threshold, not to h_maxval", Corrects;
    Corrected = "correction-misses", "several misses raise the threshold, not to h_maxval", Corrects;
    CorrectedMost = "correction-to-max", "the correction raises the threshold to h_maxval", Corrects;
    GuardDeclines = "guard-declines", "the guard answers a request to go down with NACK", GuardedMessages;
    GuardHolds = "guard-holds", "timer expired while the guard did not permit to sleep", GuardedLevels;
    DisabledStays = "disabled-stays-awake", "timer expired while enable was low";
    DisabledDeclines = "disabled-declines", "request to go down answered with NACK while enable is low", Messages;
    DisabledWithdraws = "disabled-withdraws", "enable falls between a request to go down and its ACK", Messages;
    DisabledAsleep = "disabled-asleep", "enable falls while the link sleeps";
    ForcedStays = "forced-stays-awake", "timer expired while force_wake was high";
    ForcedGoingDown = "forced-going-down", "force_wake rises while going down";
    ForcedFastWake = "forced-fast-wake", "force_wake rises in FAST_WAKE", FastWake;
    ForcedDeepSleep = "forced-deep-sleep", "force_wake rises in DEEP_SLEEP", DeepSleep;
    ForcedRefresh = "forced-refresh", "force_wake rises during a refresh", Refresh;
    ForcedUp = "forced-up", "force_wake alone wakes the link";
    LostWake = "link-lost-wake", "link lost while awake", Awake;
    LostGoingDown = "link-lost-going-down", "link lost while going down";
    LostFastWake = "link-lost-fast-wake", "link lost in FAST_WAKE", FastWake;
    LostDeepSleep = "link-lost-deep-sleep", "link lost in DEEP_SLEEP", DeepSleep;
    LostRefresh = "link-lost-refresh", "link lost during a refresh", Refresh;
    LostGoingUp = "link-lost-going-up", "link lost while going up";
    LostPeriod = "link-lost-idle", "link lost in an idle period, which is no sample", Awake;
    LostReset = "link-lost-reset", "reset while there is no link", Awake;
    LostWaiting = "link-lost-packet", "a packet waits while there is no link", Awake;
    LostAsked = "link-lost-asked", "link lost between a request and its answer", Messages;
    LostPromised = "link-lost-promised", "link lost between an ACK and its SYNC", Messages;
    LostSettled = "link-lost-settled", "link lost between SYNC and the start", Messages;
    LinkBack = "link-back", "awake again after a lost link", Awake;
    ErrorCleared = "error-cleared", "sync_error is cleared", Messages;
    ErrorKept = "error-kept", "sync_error rises in spite of clear_error", Messages;
    Upset = "upset", "a copy of a register is wrong, and outvoted", Upsets;
    UpsetAsleep = "upset-not-awake", "the same in a link that is not awake", SleepUpsets;
    UpsetSays = "upset-says", "the same while a message leaves", MessageUpsets;
    HopWindow = "hop-window", "as many packets as the hop monitor takes the mean of", Hops;
    Read = "register-read", "read of a register", Awake;
    ReadNowhere = "read-nowhere", "read where no register is", Awake;
    CounterRead = "counter-read", "read of an event counter that has counted", Awake;
    RequestsRead = "requests-read", "read of requests to go down that were counted", Messages;
    NacksRead = "nacks-read", "read of refused requests that were counted", Messages;
    WithdrawnRead = "withdrawn-read", "read of withdrawn requests that were counted", Messages;
    CrossedRead = "crossed-read", "read of crossed requests that were counted", Messages;
    TimeOutsRead = "time-outs-read", "read of time-outs that were counted", Messages;
    BackstopsRead = "backstops-read", "read of expired backstops that were counted";
    RefusalsRead = "guard-refusals-read", "read of the guard's refusals that were counted", Guarded;
    OverflowsRead = "map-overflows-read", "read of a map's overflows that were counted", Map;
    LpiTransitionsRead = "rx-lpi-transitions-read", "read of the times that the other end began to send LPI", Lpi;
    LpiRead = "rx-lpi-read", "read of the time in which it did", Lpi;
    LpiSentTransitionsRead = "tx-lpi-transitions-read", "read of the times that this end began to send LPI", Lpi;
    LpiSentRead = "tx-lpi-read", "read of the time in which it did", Lpi;
    LpiErrorsRead = "lpi-errors-read", "read of errors in LPI that were counted", Lpi;
    EarlyStartsRead = "early-starts-read", "read of frames that were sent too early", Lpi;
    PeriodsMany = "periods-many", "read of a counter past its low bits: idle periods", Awake;
    HitsMany = "hits-many", "read of a counter past its low bits: idle periods that were hits", Awake;
    MissesMany = "misses-many", "read of a counter past its low bits: idle periods that were misses";
    TransitionsMany = "transitions-many", "read of a counter past its low bits: how often the link left wake";
    WakeMany = "wake-many", "read of a counter past its low bits: cycles in WAKE", Awake;
    GoingDownMany = "going-down-many", "read of a counter past its low bits: cycles in GOING_DOWN";
    FastWakeMany = "fast-wake-many", "read of a counter past its low bits: cycles in FAST_WAKE", FastWake;
    DeepSleepMany = "deep-sleep-many", "read of a counter past its low bits: cycles in DEEP_SLEEP", DeepSleep;
    RefreshMany = "refresh-many", "read of a counter past its low bits: cycles in REFRESH", Refresh;
    GoingUpMany = "going-up-many", "read of a counter past its low bits: cycles in GOING_UP";
    WaitsMany = "waits-many", "read of a counter past its low bits: packets that had to wait";
    RequestsMany = "requests-many", "read of a counter past its low bits: requests to go down", Messages;
    NacksMany = "nacks-many", "read of a counter past its low bits: refused requests", Messages;
    WithdrawnMany = "withdrawn-many", "read of a counter past its low bits: withdrawn requests", Messages;
    CrossedMany = "crossed-many", "read of a counter past its low bits: crossed requests", Messages;
    TimeOutsMany = "time-outs-many", "read of a counter past its low bits: time-outs", Messages;
    BackstopsMany = "backstops-many", "read of a counter past its low bits: expired backstops";
    RefusalsMany = "guard-refusals-many", "read of a counter past its low bits: the guard's refusals", Guarded;
    OverflowsMany = "map-overflows-many", "read of a counter past its low bits: a map's overflows", Map;
    LpiTransitionsMany = "rx-lpi-transitions-many", "read of a counter past its low bits: LPI began", Lpi;
    LpiMany = "rx-lpi-many", "read of a counter past its low bits: time of LPI", Lpi;
    LpiSentTransitionsMany = "tx-lpi-transitions-many", "read of a counter past its low bits: LPI was sent", Lpi;
    LpiSentMany = "tx-lpi-many", "read of a counter past its low bits: time of LPI that was sent", Lpi;
    LpiErrorsMany = "lpi-errors-many", "read of a counter past its low bits: errors in LPI", Lpi;
    EarlyStartsMany = "early-starts-many", "read of a counter past its low bits: frames too early", Lpi;
    UpperRead = "upper-word-read", "read of a counter past 32 bits, its upper word", Awake;
    BinRead = "bin-read", "read of a bin that holds samples", Bins;
    HopsRead = "hops-read", "read of a hop count that packets had", Awake;
    ErrorRead = "error-read", "read of an error flag that is set", Errors;
    EventErrorRead = "event-error-read", "read of an event: an error", Errors;
    EventAppliedRead = "event-applied-read", "read of an event: parameters came into force", Awake;
    EventWaitedRead = "event-waited-read", "read of an event: a packet had to wait", Awake;
    EventBackstopRead = "event-backstop-read", "read of an event: the backstop expired";
    EventRefusalRead = "event-refusal-read", "read of an event: the guard refused", Guarded;
    EventLostRead = "event-lost-read", "read of an event: the link was lost", Awake;
    EventLpiErrorRead = "event-lpi-error-read", "read of an event: an error in LPI", Lpi;
    EventEarlyStartRead = "event-early-start-read", "read of an event: a frame was sent too early", Lpi;
    InterruptRaised = "interrupt-raised", "the interrupt is raised", Awake;
    InterruptEnded = "interrupt-ended", "the interrupt ends, without a reset", Awake;
    Written = "register-written", "write of a register", Awake;
    WriteNowhere = "write-nowhere", "write where no register is", Awake;
    WriteRefused = "write-refused", "write that a register refuses", Awake;
    BytesWritten = "bytes-written", "write of some bytes of a register", Awake;
    NoByteWritten = "no-byte-written", "write without a byte", Awake;
    Unaligned = "unaligned", "write to an address within a word", Awake;
    AddressFirst = "address-first", "write whose address comes before its data", Awake;
    DataFirst = "data-first", "write whose data comes before its address", Awake;
    ReadAndWrite = "read-and-write", "a read and a write wait in the same cycle", Awake;
    WriteStalls = "write-stalls", "the answer to a write is not taken at once", Awake;
    ReadStalls = "read-stalls", "the answer to a read is not taken at once", Awake;
    ResetAsked = "reset-asked", "reset while an access is under way", Awake;
    CountersCleared = "counters-cleared", "software clears the counters", Awake;
    GuardOff = "guard-off", "software switches the guard off", Guarded;
    BucketLeast = "bucket-least", "software makes the guard's bucket as small as it can be", Guarded;
    BucketRefused = "bucket-refused", "a size of the guard's bucket that is refused", Guarded;
    AppliedActive = "applied-active", "software applies parameters while the port is active", Awake;
    AppliedIdle = "applied-idle", "software applies parameters while the port is idle", Awake;
    TimeLeast = "time-least", "software sets a time of the link to the least it may have", Times;
    TimeMost = "time-most", "software sets a time of the link to the most it may have", Times;
    TimeTooShort = "time-too-short", "a time of the link below that is refused", Times;
    TimeTooLong = "time-too-long", "a time of the link above that is refused", Times;
    UpFaster = "up-faster", "a way up shorter than any of the configuration", Times;
    UpSlower = "up-slower", "a way up longer than any of the configuration", Times;
}

impl Corner {
    /// The idle time, in ticks, that this corner needs at least and that may be too long
    /// for a run; `None` where short activity does.
    pub fn long_idle(self, plan: &PortPlan) -> Option<u64> {
        let max_value = plan.histogram.max_value;
        match self {
            Corner::AtMax => Some(max_value),
            Corner::AboveMax => Some(max_value.saturating_add(1)),
            Corner::BelowMax => Some(max_value.saturating_sub(1).max(1)),
            Corner::ClearByTtl => plan.histogram.ttl.map(|ttl| ttl.saturating_add(1)),
            // A clear at a known time, then windows that end just before and with the time
            // to live.
            Corner::ClearAtTtl => plan.histogram.ttl.map(|ttl| ttl.saturating_mul(4)),
            // The ends have to agree, too. What software sets does not count.
            Corner::Backstop => plan.t_backstop.map(|ticks| {
                let configured = PortPlan {
                    registers: None,
                    ..*plan
                };
                ticks
                    .max(configured.longest_threshold())
                    .saturating_add(400)
            }),
            // However long a tick is.
            Corner::UpperRead => Some(1 << 33),
            Corner::Unused => {
                let start = plan.messages().map_or(0, |sync| start_cycles(plan, &sync));
                let ticks = start / plan.clocks_per_tick + 400;
                Some(plan.t_pdt_init.saturating_add(ticks))
            }
            // Where a counter is full before, it takes no long idle time.
            Corner::Halved if plan.histogram.counter_bits <= SMALL_COUNTER => None,
            Corner::Halved => Some(plan.max_window().saturating_add(1)),
            // One and a half windows: the counter of idle ticks has saturated.
            Corner::IdleSaturated | Corner::WindowSaturated => {
                Some(plan.max_time().saturating_add(plan.max_time() / 16 + 2))
            }
            _ => None,
        }
    }

    /// That of the visit of a state; `None` for `Wake`.
    pub fn visit(state: PowerState) -> Option<Corner> {
        match state {
            PowerState::Wake => None,
            PowerState::GoingDown => Some(Corner::InGoingDown),
            PowerState::FastWake => Some(Corner::InFastWake),
            PowerState::DeepSleep => Some(Corner::InDeepSleep),
            PowerState::Refresh => Some(Corner::InRefresh),
            PowerState::GoingUp => Some(Corner::InGoingUp),
        }
    }

    /// Whether it is about the other end of a link that sleeps in both directions together.
    fn is_of_the_other_end(self) -> bool {
        matches!(
            self,
            Corner::ReceiveOnly
                | Corner::Backstop
                | Corner::Refused
                | Corner::RemoteDownIdle
                | Corner::RemoteDownActive
                | Corner::RemoteDownElse
                | Corner::RemoteUpGoingDown
                | Corner::RemoteUpFastWake
                | Corner::RemoteUpDeepSleep
                | Corner::RemoteUpRefresh
                | Corner::RemoteUpGoingUp
                | Corner::RemoteUpWake
                | Corner::BackstopsRead
                | Corner::BackstopsMany
                | Corner::EventBackstopRead
        )
    }

    /// Whether it is about the control pins: but for one these stand together in the list.
    fn is_of_control_pins(self) -> bool {
        (Corner::DisabledStays..=Corner::ErrorKept).contains(&self) || self == Corner::EventLostRead
    }

    /// Whether many events have to happen without a reset: these stand together in the list.
    pub fn counts_many(self) -> bool {
        (Corner::PeriodsMany..=Corner::EarlyStartsMany).contains(&self)
    }

    /// Whether software has to ask for it: these stand together in the list.
    fn is_of_registers(self) -> bool {
        (Corner::Read..=Corner::AppliedIdle).contains(&self)
    }

    /// That of a link that is lost in this state.
    pub fn lost(state: PowerState) -> Corner {
        match state {
            PowerState::Wake => Corner::LostWake,
            PowerState::GoingDown => Corner::LostGoingDown,
            PowerState::FastWake => Corner::LostFastWake,
            PowerState::DeepSleep => Corner::LostDeepSleep,
            PowerState::Refresh => Corner::LostRefresh,
            PowerState::GoingUp => Corner::LostGoingUp,
        }
    }

    /// That of `force_wake` in this state; `None` where it is nothing special.
    pub fn forced(state: PowerState) -> Option<Corner> {
        match state {
            PowerState::Wake | PowerState::GoingUp => None,
            PowerState::GoingDown => Some(Corner::ForcedGoingDown),
            PowerState::FastWake => Some(Corner::ForcedFastWake),
            PowerState::DeepSleep => Some(Corner::ForcedDeepSleep),
            PowerState::Refresh => Some(Corner::ForcedRefresh),
        }
    }

    /// Why no activity can reach this corner with this configuration, if so.
    pub fn impossible(self, plan: &PortPlan) -> Option<&'static str> {
        let predicts = plan.predicts();
        let clears = plan.histogram.kind.clears();
        let maps = plan.maps();
        let missing = match self.needs() {
            _ if !plan.control_pins && self.is_of_control_pins() => {
                Some("there are no control pins")
            }
            _ if plan.per_direction() && self.is_of_the_other_end() => {
                Some("each direction of the link sleeps for itself")
            }
            _ if plan.registers.is_none() && self.is_of_registers() => {
                Some("there are no registers")
            }
            Needs::Messages if plan.messages().is_none() => {
                Some("the ends do not exchange messages")
            }
            Needs::Map if !maps => Some("the histogram is no map"),
            Needs::Upsets | Needs::SleepUpsets | Needs::MessageUpsets
                if !plan.triple_redundancy =>
            {
                Some("no register is kept in three copies")
            }
            Needs::MessageUpsets if plan.messages().is_none() => {
                Some("the ends do not exchange messages")
            }
            Needs::Upsets => None,
            Needs::Times if plan.adjustable_times().is_empty() => {
                Some("software does not set the times of the link")
            }
            Needs::Bins if !plan.reads_bins() => Some("software cannot read bins"),
            Needs::Errors if plan.messages().is_none() && !maps && !plan.triple_redundancy => {
                Some("there is no error flag")
            }
            Needs::Hops if plan.registers.is_none() && !plan.measures() => {
                Some("hop counts are not measured")
            }
            Needs::Lpi if !plan.counts_lpi() => Some("the ends sleep together"),
            Needs::Samples if !predicts => Some("the policy does not predict"),
            Needs::Guarded | Needs::GuardedMessages | Needs::GuardedLevels
                if plan.guard.is_none() =>
            {
                Some("there is no guard")
            }
            Needs::GuardedMessages if plan.messages().is_none() => {
                Some("the ends do not exchange messages")
            }
            Needs::GuardedLevels if plan.messages().is_some() => Some("the ends exchange messages"),
            Needs::Awake
            | Needs::Samples
            | Needs::Map
            | Needs::Times
            | Needs::Lpi
            | Needs::Bins
            | Needs::Errors
            | Needs::Hops => None,
            _ if plan.policy == Policy::AlwaysOn => Some("the port never sleeps"),
            Needs::Corrects if !plan.corrects() => Some("the threshold is not corrected"),
            Needs::Clears if !predicts || !clears => Some("there is no histogram that clears"),
            Needs::FastWake if plan.sleep == Sleep::DeepSleep => {
                Some("the port does not sleep in FAST_WAKE")
            }
            Needs::DeepSleep if plan.sleep == Sleep::FastWake => {
                Some("the port does not sleep in DEEP_SLEEP")
            }
            Needs::Refresh if plan.sleep == Sleep::FastWake || plan.link.refresh.is_none() => {
                Some("deep sleep is not refreshed")
            }
            _ => None,
        };
        let hindered = || match self {
            Corner::WindowSaturated if predicts && clears && plan.histogram.ttl.is_some() => {
                Some("the window's time to live is shorter")
            }
            Corner::WindowSaturated if predicts && longest_window(plan) < plan.max_window() => {
                Some("no window is that long")
            }
            Corner::WindowSaturated if plan.halves() => Some("it is halved before"),
            Corner::Halved if !plan.halves() => Some("counters and window are not halved"),
            Corner::ThresholdSecond if !exceeds(plan, 1) => Some(ALLOWED),
            Corner::ThresholdThird if !exceeds(plan, 2) => Some(ALLOWED),
            Corner::ThresholdFourth if !exceeds(plan, 3) => Some(ALLOWED),
            Corner::ThresholdNever if !exceeds(plan, 4) => Some(ALLOWED),
            Corner::BudgetOne if largest_budget(plan) < 1 => Some("no window is that long"),
            Corner::BudgetSome if largest_budget(plan).min(half_a_window(plan) - 1) < 2 => {
                Some("no window is that long")
            }
            Corner::BudgetMost if largest_budget(plan) < half_a_window(plan) => {
                Some("no window is that long")
            }
            Corner::Update | Corner::WindowSaturated if !predicts => {
                Some("the policy does not predict")
            }
            Corner::ClearByTtl | Corner::ClearAtTtl if plan.histogram.ttl.is_none() => {
                Some("there is no time to live")
            }
            Corner::Backstop if plan.t_backstop.is_none() => Some("there is no backstop"),
            Corner::ReceiveOnly if plan.t_backstop.is_some_and(|ticks| ticks <= 1) => {
                Some("the backstop is no longer than any threshold")
            }
            Corner::MapOverflow | Corner::OverflowsRead | Corner::OverflowsMany
                if !map::Shape::of(plan).overflows =>
            {
                Some("there are entries enough")
            }
            Corner::MapSaturated if map::Shape::of(plan).entry.largest_count.is_none() => {
                Some("the counters hold all samples")
            }
            _ => None,
        };
        missing.or_else(hindered)
    }
}

/// The longest window that a configuration bounds by itself, in ticks.
fn longest_window(plan: &PortPlan) -> u64 {
    let histogram = &plan.histogram;
    match (histogram.kind, histogram.ttl) {
        (HistogramKind::Circular, _) if histogram.sums_lengths() => {
            (histogram.max_value).saturating_mul(histogram.max_samples.into())
        }
        // A generation, and half, a quarter and an eighth of those before it.
        (HistogramKind::Decaying, Some(ttl)) => ttl.saturating_mul(2),
        _ => u64::MAX,
    }
}

/// Why the threshold of a circular histogram cannot be long.
const ALLOWED: &str = "idle periods that long allow as many packets as there are of them";

/// Whether the threshold can be in this quarter of the bins, from 0, or above the highest bin (4).
/// The window of a circular histogram is the sum of what it holds, so that long idle periods bring
/// the budget that they use.
fn exceeds(plan: &PortPlan, quarter: usize) -> bool {
    let edges = Edges::new(&plan.histogram);
    let first = (quarter * edges.len()).div_ceil(4);
    let below = edges.low(first.min(edges.top() + 1).saturating_sub(1));
    let packets = u128::from(below) * plan.budget.numerator;
    !plan.histogram.sums_lengths() || packets < plan.budget.denominator
}

/// The largest budget that there can be, in packets.
fn largest_budget(plan: &PortPlan) -> u64 {
    let clears = plan.histogram.kind.clears();
    let window = match plan.histogram.ttl.filter(|_| clears) {
        Some(ttl) => ttl,
        None => longest_window(plan).min(plan.max_window()),
    };
    let packets = u128::from(window) * plan.budget.numerator / plan.budget.denominator;
    u64::try_from(packets).unwrap_or(u64::MAX)
}

/// Half of the samples of a full window.
pub(super) fn half_a_window(plan: &PortPlan) -> u64 {
    u64::from(plan.histogram.max_samples).div_ceil(2).max(1)
}

/// Counters of so many bits are soon full.
const SMALL_COUNTER: u32 = 8;
