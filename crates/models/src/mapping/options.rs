//! Targets, and the choices where there are two mappings for one; their names on the command line.
//!
//! `--mapping` takes a list of words, such as `trailing-sync` or `llsc,rcpc`. The first word of each group is the default.

use std::fmt;

/// What to compile for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// x86, or any machine with total store order.
    Tso,
    /// Partial store order.
    Pso,
    /// POWER.
    Power,
    /// AArch64.
    Armv8,
}

/// How a sequentially consistent store is done under TSO.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ScStores {
    /// `mov; mfence`.
    #[default]
    Mfence,
    /// `xchg`.
    Xchg,
}

/// On which side of sequentially consistent accesses the `sync` of POWER stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Syncs {
    /// Before them, as compilers do it.
    #[default]
    Leading,
    /// Behind them.
    Trailing,
}

/// Exchanges and fetch operations of POWER.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Fetches {
    /// `lwarx` and `stwcx.`, as compilers do it.
    #[default]
    Split,
    /// One step. The same executions, found without the tries that fail: `docs/adr/006-mapping-llsc.md`.
    Fused,
}

/// The instruction for acquire loads of AArch64.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Acquires {
    /// `LDAR`.
    #[default]
    Ldar,
    /// `LDAPR` (FEAT_LRCPC); sequentially consistent loads stay `LDAR`.
    Ldapr,
}

/// The instructions for read-modify-writes of AArch64.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Rmws {
    /// Single instructions (FEAT_LSE): `LDADD`, `SWP`, `CAS`, ...
    #[default]
    Lse,
    /// `LDXR` and `STXR`.
    Llsc,
}

/// What follows a relaxed load of POWER and AArch64.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum RelaxedLoads {
    /// Nothing, as compilers do it.
    #[default]
    Bare,
    /// A branch on the value, which keeps later writes behind it: then no cycle of `po | rf` is left.
    Branch,
}

/// The choices. Those of other targets are ignored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Mapping {
    /// TSO.
    pub sc_stores: ScStores,
    /// POWER.
    pub syncs: Syncs,
    /// POWER.
    pub fetches: Fetches,
    /// AArch64.
    pub acquires: Acquires,
    /// AArch64.
    pub rmws: Rmws,
    /// POWER and AArch64.
    pub relaxed: RelaxedLoads,
}

/// A word that is no mapping of the target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownMapping {
    /// The target.
    pub target: Target,
    /// The word.
    pub word: String,
}

impl fmt::Display for UnknownMapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<&str> = self.target.mappings().iter().map(|&(name, _)| name).collect();
        write!(f, "`{}` is no mapping for {}", self.word, self.target.name())?;
        if known.is_empty() {
            return write!(f, ", which has only one");
        }
        write!(f, "; there are {}", known.join(", "))
    }
}

impl std::error::Error for UnknownMapping {}

impl Target {
    /// Every target.
    pub const ALL: [Target; 4] = [Target::Tso, Target::Pso, Target::Power, Target::Armv8];

    /// The name of the model that programs for it run under.
    pub fn name(self) -> &'static str {
        match self {
            Target::Tso => "tso",
            Target::Pso => "pso",
            Target::Power => "power",
            Target::Armv8 => "armv8",
        }
    }

    /// The target of the model of that name. Under other models programs keep their orders.
    pub fn from_name(name: &str) -> Option<Target> {
        Target::ALL.into_iter().find(|target| target.name() == name)
    }

    /// The words that `--mapping` takes for it, and what they mean.
    pub fn mappings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Target::Tso => {
                &[("mfence", "an SC store is mov; mfence (default)"), ("xchg", "an SC store is an exchange")]
            }
            Target::Pso => &[],
            Target::Power => &[
                ("leading-sync", "sync before SC accesses (default)"),
                ("trailing-sync", "sync behind SC accesses"),
                ("split", "fetch operations by lwarx and stwcx. (default)"),
                ("fused", "fetch operations in one step: the same executions, faster"),
                ("bare", "a relaxed load is a load (default)"),
                ("branch", "a branch on the value of each relaxed load"),
            ],
            Target::Armv8 => &[
                ("lse", "read-modify-writes by one instruction (default)"),
                ("llsc", "read-modify-writes by load- and store-exclusive"),
                ("ldar", "an acquire load is LDAR (default)"),
                ("rcpc", "an acquire load is LDAPR"),
                ("bare", "a relaxed load is a load (default)"),
                ("branch", "a branch on the value of each relaxed load"),
            ],
        }
    }
}

impl Mapping {
    /// The choices that a list of words names, separated by commas; of two words about the same the later one counts.
    /// The empty list and `default` are the defaults.
    pub fn parse(target: Target, words: &str) -> Result<Mapping, UnknownMapping> {
        let mut mapping = Mapping::default();
        for word in words.split(',').map(str::trim).filter(|w| !w.is_empty() && *w != "default") {
            let known = target.mappings().iter().any(|&(name, _)| name == word);
            if !(known && mapping.choose(word)) {
                return Err(UnknownMapping { target, word: word.to_string() });
            }
        }
        Ok(mapping)
    }

    fn choose(&mut self, word: &str) -> bool {
        match word {
            "mfence" => self.sc_stores = ScStores::Mfence,
            "xchg" => self.sc_stores = ScStores::Xchg,
            "leading-sync" => self.syncs = Syncs::Leading,
            "trailing-sync" => self.syncs = Syncs::Trailing,
            "split" => self.fetches = Fetches::Split,
            "fused" => self.fetches = Fetches::Fused,
            "ldar" => self.acquires = Acquires::Ldar,
            "rcpc" => self.acquires = Acquires::Ldapr,
            "lse" => self.rmws = Rmws::Lse,
            "llsc" => self.rmws = Rmws::Llsc,
            "bare" => self.relaxed = RelaxedLoads::Bare,
            "branch" => self.relaxed = RelaxedLoads::Branch,
            _ => return false,
        }
        true
    }
}
