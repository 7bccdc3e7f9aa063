//! The rules of the encoding by name, so that a test can leave each of them out and see that somebody notices.

/// A rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Rule {
    // A read is initialised, and committed, after these.
    ReadAfterFences,
    ReadAfterAddress,
    ReadAfterOwnStore,
    ReadAfterAddressesOfStores,
    ReadCommitAfterInit,
    ReadCommitAfterControl,
    ReadCommitAfterAddresses,
    ReadCommitAfterAddress,
    ReadCommitAfterSameCell,
    // A store is committed after these.
    StoreAfterInit,
    StoreAfterControl,
    StoreAfterAddresses,
    StoreAfterData,
    StoreAfterAddress,
    StoreAfterEieio,
    StoreAfterSameCell,
    // A fence is committed, and goes on, after these.
    FenceAfterControl,
    FenceAfterFences,
    FenceAfterAccesses,
    FenceReachesAfterCommit,
    FenceCarriesOwn,
    FenceCarriesSeen,
    FenceKnows,
    IsyncAfterControl,
    IsyncAfterAddresses,
    BranchHoldsUp,
    // The coherence order.
    CoherenceKeepsProgramOrder,
    CoherenceIsTransitive,
    CoverIsClosed,
    CoverKeepsProgramOrder,
    // A store arrives.
    ArrivesAfterCommit,
    ArrivesAfterOwnFences,
    ArrivesAfterSeenFences,
    ArrivesBehindLast,
    ArrivesCovered,
    // Reads.
    ReadsInOrder,
    ReadsNewest,
    NothingBetween,
    ReservedHere,
    // Ends.
    CommittedInTheEnd,
    FinalValueIsLast,
}

impl Rule {
    /// All of them.
    pub const ALL: [Rule; 41] = {
        use Rule::*;
        [
            ReadAfterFences,
            ReadAfterAddress,
            ReadAfterOwnStore,
            ReadAfterAddressesOfStores,
            ReadCommitAfterInit,
            ReadCommitAfterControl,
            ReadCommitAfterAddresses,
            ReadCommitAfterAddress,
            ReadCommitAfterSameCell,
            StoreAfterInit,
            StoreAfterControl,
            StoreAfterAddresses,
            StoreAfterData,
            StoreAfterAddress,
            StoreAfterEieio,
            StoreAfterSameCell,
            FenceAfterControl,
            FenceAfterFences,
            FenceAfterAccesses,
            FenceReachesAfterCommit,
            FenceCarriesOwn,
            FenceCarriesSeen,
            FenceKnows,
            IsyncAfterControl,
            IsyncAfterAddresses,
            BranchHoldsUp,
            CoherenceKeepsProgramOrder,
            CoherenceIsTransitive,
            CoverIsClosed,
            CoverKeepsProgramOrder,
            ArrivesAfterCommit,
            ArrivesAfterOwnFences,
            ArrivesAfterSeenFences,
            ArrivesBehindLast,
            ArrivesCovered,
            ReadsInOrder,
            ReadsNewest,
            NothingBetween,
            ReservedHere,
            CommittedInTheEnd,
            FinalValueIsLast,
        ]
    };
}
