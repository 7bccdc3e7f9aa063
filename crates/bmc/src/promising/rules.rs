//! The rules of the encoding by name, so that tests can leave one out and see that somebody notices.

/// A rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Rule {
    /// A view switch reads a newer message.
    Newer,
    /// A slot is filled after those that the thread knows.
    SlotAfterTime,
    /// A read-modify-write takes the timestamp right behind what it reads.
    UpdateTouches,
    /// A timestamp is one thread's.
    OwnTimestamp,
    /// Who has written without a timestamp reads nothing newer where something may touch.
    SettledBeforeSwitch,
    /// With open promises, a thread reads what is there at its time.
    ReadsByTime,
    /// A promise comes after the slots that the thread knows.
    PromiseAfterTime,
    /// With open promises, a promise is in the next slot, or the thread has left.
    PromiseInNextSlot,
    /// What fulfils a promise has its value.
    FulfilsValue,
    /// What is promised is certified at once.
    CertifiesPromise,
    /// What is open is certified after every step.
    CertifiesStep,
    /// View switches of a certification count where the thread leaves.
    CountsCertification,
    /// Who stops with open promises has left.
    LeavesAtLast,
    /// A certification reads what is there at its time.
    GhostReadsByTime,
    /// A certification reads only what is newer.
    GhostReadsNewer,
    /// A certification writes behind all messages, or uses a promise.
    GhostWritesLast,
    /// A read-modify-write in a certification uses a promise.
    GhostUpdatesByPromise,
    /// The promise that it uses touches what it reads: no message of others is between.
    GhostTouchesOthers,
    /// What fulfils a promise in a certification has its value.
    GhostFulfilsValue,
    /// A certification ends at fences that release.
    GhostStopsAtFence,
    /// A message with many bits counts as wrong where values have few.
    LargeIsWrong,
    /// An acquiring read learns what the message publishes.
    Acquires,
    /// A releasing write publishes what the thread sees.
    Releases,
    /// A read-modify-write passes on what the message that it reads publishes.
    PassesOn,
    /// A releasing write fulfils no promise.
    ReleaseFulfilsNothing,
    /// By the standard notion, each value of the domain may be at the end of a cell.
    EveryFuture,
    /// What is there may be read.
    ReadsFuture,
}

impl Rule {
    /// All rules.
    pub const ALL: [Rule; 27] = [
        Rule::Newer,
        Rule::SlotAfterTime,
        Rule::UpdateTouches,
        Rule::OwnTimestamp,
        Rule::SettledBeforeSwitch,
        Rule::ReadsByTime,
        Rule::PromiseAfterTime,
        Rule::PromiseInNextSlot,
        Rule::FulfilsValue,
        Rule::CertifiesPromise,
        Rule::CertifiesStep,
        Rule::CountsCertification,
        Rule::LeavesAtLast,
        Rule::GhostReadsByTime,
        Rule::GhostReadsNewer,
        Rule::GhostWritesLast,
        Rule::GhostUpdatesByPromise,
        Rule::GhostTouchesOthers,
        Rule::GhostFulfilsValue,
        Rule::GhostStopsAtFence,
        Rule::LargeIsWrong,
        Rule::Acquires,
        Rule::Releases,
        Rule::PassesOn,
        Rule::ReleaseFulfilsNothing,
        Rule::EveryFuture,
        Rule::ReadsFuture,
    ];
}
