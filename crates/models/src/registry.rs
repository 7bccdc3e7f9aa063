//! The memory models: one table. A row and its cat file are all that a model as data needs: `models` lists it, and
//! `litmus -m NAME` runs it by enumeration. What engines know about a model is named here and lives with them: a twin in
//! `explore`, a machine in `machine`, an order in `param`. A test of `cli` compares the names with what there is.

use crate::mapping::Target;

/// Which events are over before a life ends, as far as a model says; see `naive::findings`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ordered {
    /// What happens before (`hb`), and atomic accesses that somebody has seen. Plain accesses may race.
    HappensBefore,
    /// What is earlier in program order and reads-from.
    Sight,
    /// The union of these relations of the cat file, which commit events out of program order.
    Committed(&'static [&'static str]),
}

/// A model.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// The text of its cat file; empty for a model that is operational only.
    pub cat: &'static str,
    /// The name of its incremental twin in `explore`; without one, candidates are enumerated whole.
    pub twin: Option<&'static str>,
    /// What C is compiled for; without a target, programs are checked as written.
    pub target: Option<Target>,
    /// The name of its operational machine in `machine`.
    pub machine: Option<&'static str>,
    /// Whether it is a model of parameterized systems (`prove`).
    pub systems: bool,
    /// Whether dependencies of the source order accesses: then the answer says what it assumes of the compiler.
    pub dependencies: bool,
    /// What counts as ordered.
    pub ordered: Ordered,
}

/// A model as data and nothing else.
const DATA: Entry = Entry {
    name: "",
    cat: "",
    twin: None,
    target: None,
    machine: None,
    systems: false,
    dependencies: false,
    ordered: Ordered::Sight,
};

/// The models, in the order in which they are listed.
pub const MODELS: &[Entry] = &[
    Entry {
        name: "sc",
        cat: include_str!("../cat/sc.cat"),
        twin: Some("sc"),
        machine: Some("sc"),
        systems: true,
        ..DATA
    },
    Entry {
        name: "tso",
        cat: include_str!("../cat/tso.cat"),
        twin: Some("tso"),
        target: Some(Target::Tso),
        machine: Some("tso"),
        systems: true,
        ..DATA
    },
    Entry {
        name: "pso",
        cat: include_str!("../cat/pso.cat"),
        twin: Some("pso"),
        target: Some(Target::Pso),
        machine: Some("pso"),
        systems: true,
        ..DATA
    },
    Entry {
        name: "ra",
        cat: include_str!("../cat/ra.cat"),
        twin: Some("ra"),
        ordered: Ordered::HappensBefore,
        ..DATA
    },
    Entry {
        name: "rc11",
        cat: include_str!("../cat/rc11.cat"),
        twin: Some("rc11"),
        ordered: Ordered::HappensBefore,
        ..DATA
    },
    Entry {
        name: "rc20",
        cat: include_str!("../cat/rc20.cat"),
        twin: Some("rc20"),
        ordered: Ordered::HappensBefore,
        ..DATA
    },
    Entry {
        name: "power",
        cat: include_str!("../cat/power.cat"),
        twin: Some("power"),
        target: Some(Target::Power),
        dependencies: true,
        ordered: Ordered::Committed(&["hb"]),
        ..DATA
    },
    Entry {
        name: "armv8",
        cat: include_str!("../cat/armv8.cat"),
        twin: Some("armv8"),
        target: Some(Target::Armv8),
        dependencies: true,
        ordered: Ordered::Committed(&["lob", "rfe"]),
        ..DATA
    },
    Entry {
        name: "armv8@2018",
        cat: include_str!("../cat/armv8@2018.cat"),
        dependencies: true,
        ordered: Ordered::Committed(&["dob", "aob", "bob", "rfe"]),
        ..DATA
    },
    Entry {
        name: "arm",
        cat: include_str!("../cat/arm.cat"),
        dependencies: true,
        ordered: Ordered::Committed(&["hb"]),
        ..DATA
    },
    Entry {
        name: "rvwmo",
        cat: include_str!("../cat/rvwmo.cat"),
        dependencies: true,
        ordered: Ordered::Committed(&["ppo", "rfe"]),
        ..DATA
    },
    Entry { name: "lkmm", cat: include_str!("../cat/lkmm.cat"), dependencies: true, ..DATA },
    // Operational: it has no cat file.
    Entry { name: "ps", machine: Some("ps"), ordered: Ordered::HappensBefore, ..DATA },
];

/// What people call models by the machine or the language that they stand for.
const OTHER_NAMES: [(&str, &str); 10] = [
    ("x86", "tso"),
    ("x86-64", "tso"),
    ("aarch64", "armv8"),
    ("arm64", "armv8"),
    ("armv7", "arm"),
    ("linux", "lkmm"),
    ("riscv", "rvwmo"),
    ("ppc", "power"),
    ("c11", "rc11"),
    ("cpp20", "rc20"),
];

/// The model of that name, or of another name for it.
pub fn find(name: &str) -> Option<&'static Entry> {
    let other = OTHER_NAMES.iter().find(|(other, _)| *other == name);
    let name = other.map_or(name, |(_, own)| own);
    MODELS.iter().find(|entry| entry.name == name)
}

/// The names of all models, or of those that something is true of, such as `|m| m.machine.is_some()`.
pub fn names(wanted: impl Fn(&Entry) -> bool) -> Vec<&'static str> {
    MODELS.iter().filter(|entry| wanted(entry)).map(|entry| entry.name).collect()
}
