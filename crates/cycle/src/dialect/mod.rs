//! What a cycle can be made of on each architecture, and how its accesses are written there.

mod aarch64;
mod arm;
mod c;
mod kernel;
mod ppc;
mod riscv;
mod x86;

use crate::edge::{Com, Dep, Dir, Edge, Kind, Note, Order, Scope};
use crate::emit::Assembly;

/// Where a test is for: an architecture, C11, or the Linux kernel's C.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Dialect {
    /// POWER.
    Ppc,
    /// x86, 32 bits.
    X86,
    /// x86, 64 bits.
    X86_64,
    /// Arm, 64 bits.
    AArch64,
    /// ARMv7.
    Arm,
    /// RISC-V.
    RiscV,
    /// C11.
    C,
    /// C with the macros of the Linux kernel.
    Kernel,
}

/// A fence as an edge names it and as it is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fence {
    /// In the name of an edge.
    pub edge: &'static str,
    /// The instruction or statement.
    pub text: &'static str,
    /// In the name of a test.
    pub short: &'static str,
}

const fn fence(edge: &'static str, text: &'static str, short: &'static str) -> Fence {
    Fence { edge, text, short }
}

/// An annotation: its name, the order, and whether it is made by load- and store-exclusive.
pub(crate) type OrderRow = (&'static str, Order, bool);

impl Dialect {
    /// All of them.
    pub const ALL: [Dialect; 8] = [
        Dialect::Ppc,
        Dialect::X86,
        Dialect::X86_64,
        Dialect::AArch64,
        Dialect::Arm,
        Dialect::RiscV,
        Dialect::C,
        Dialect::Kernel,
    ];

    /// As people call it, on the command line and in messages.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Ppc => "ppc",
            Dialect::X86 => "x86",
            Dialect::X86_64 => "x86_64",
            Dialect::AArch64 => "aarch64",
            Dialect::Arm => "arm",
            Dialect::RiscV => "riscv",
            Dialect::C => "c",
            Dialect::Kernel => "lkmm",
        }
    }

    /// The word that opens its files.
    pub fn header(self) -> &'static str {
        match self {
            Dialect::Ppc => "PPC",
            Dialect::X86 => "X86",
            Dialect::X86_64 => "X86_64",
            Dialect::AArch64 => "AArch64",
            Dialect::Arm => "ARM",
            Dialect::RiscV => "RISCV",
            Dialect::C | Dialect::Kernel => "C",
        }
    }

    /// By name, whatever the case.
    pub fn from_name(name: &str) -> Option<Dialect> {
        let name = name.to_ascii_lowercase();
        let alias = match name.as_str() {
            "power" => "ppc",
            "armv7" => "arm",
            "armv8" | "arm64" => "aarch64",
            "c11" => "c",
            "linux" | "kernel" => "lkmm",
            "x86-64" => "x86_64",
            other => other,
        };
        Dialect::ALL.into_iter().find(|d| d.name() == alias)
    }

    /// Its fences.
    pub fn fences(self) -> &'static [Fence] {
        match self {
            Dialect::Ppc => &ppc::FENCES,
            Dialect::X86 | Dialect::X86_64 => &x86::FENCES,
            Dialect::AArch64 => &aarch64::FENCES,
            Dialect::Arm => &arm::FENCES,
            Dialect::RiscV => &riscv::FENCES,
            Dialect::C => &c::FENCES,
            Dialect::Kernel => &kernel::FENCES,
        }
    }

    /// What the fence behind a branch is called in the name of an edge, and its place in the table.
    pub(crate) fn ctrl_fence(self) -> Option<&'static str> {
        match self {
            Dialect::Ppc => Some("Isync"),
            Dialect::AArch64 | Dialect::Arm => Some("Isb"),
            Dialect::RiscV => Some("FenceI"),
            _ => None,
        }
    }

    /// The text of that fence.
    pub(crate) fn ctrl_fence_text(self) -> &'static str {
        match self {
            Dialect::Ppc => "isync",
            Dialect::RiscV => "fence.i",
            _ => "ISB",
        }
    }

    /// Dependencies that can be written.
    pub fn deps(self) -> &'static [Dep] {
        match self {
            Dialect::X86 | Dialect::X86_64 => &[],
            Dialect::C => &[Dep::Data, Dep::Ctrl],
            Dialect::Kernel => &[Dep::Addr, Dep::Data, Dep::Ctrl],
            _ => &[Dep::Addr, Dep::Data, Dep::Ctrl, Dep::CtrlFence],
        }
    }

    /// Annotations of accesses.
    pub(crate) fn orders(self) -> &'static [OrderRow] {
        match self {
            Dialect::AArch64 => &aarch64::ORDERS,
            Dialect::RiscV => &riscv::ORDERS,
            Dialect::Arm => &arm::ORDERS,
            Dialect::C => &c::ORDERS,
            Dialect::Kernel => &kernel::ORDERS,
            Dialect::Ppc | Dialect::X86 | Dialect::X86_64 => &[("P", Order::Plain, false)],
        }
    }

    /// What an annotation is called.
    pub(crate) fn order_name(self, note: Note) -> &'static str {
        let row = self.orders().iter().find(|row| (row.1, row.2) == (note.order, note.exclusive));
        row.map_or("P", |row| row.0)
    }

    /// Accesses of different sizes can be asked for.
    pub(crate) fn has_sizes(self) -> bool {
        self == Dialect::AArch64
    }

    /// An access that is acquire and release is one atomic instruction.
    pub(crate) fn has_amo(self) -> bool {
        self == Dialect::RiscV
    }

    /// A read-modify-write by one instruction can be asked for, besides that by a pair.
    pub(crate) fn has_amo_edges(self) -> bool {
        self == Dialect::AArch64
    }

    /// The annotations that any read or write may have: those of a pair of exclusives are asked for by name.
    pub fn notes(self) -> Vec<Note> {
        let row = |&(_, order, exclusive): &OrderRow| Note { order, exclusive, size: None };
        let notes = self.orders().iter().map(row);
        notes
            .filter(|note| {
                !note.exclusive && note.order != Order::Plain && note.order != Order::AcquireRelease
            })
            .collect()
    }

    /// The edges that a cycle can have: communications between threads, program order to a different location and, if
    /// `all`, everything else that does not come by excursions. Fences only where `fences` says so.
    pub fn edges(self, all: bool, fences: bool) -> Vec<Edge> {
        let (reads, writes) = (Dir::R, Dir::W);
        let coms = [Com::Rf, Com::Fr, Com::Co];
        let mut edges: Vec<Edge> = coms.map(|com| Edge::com(com, Scope::External)).to_vec();
        if all {
            edges.extend(coms.map(|com| Edge::com(com, Scope::Internal)));
            edges.push(Edge::new(Kind::Rmw, true, reads, writes));
            if self.has_amo_edges() {
                edges.extend([false, true].map(|is_cas| Edge::new(Kind::Amo(is_cas), true, reads, writes)));
            }
        }
        let orders = (0..self.fences().len()).filter(|_| fences).map(Kind::Fence);
        for kind in [Kind::Po].into_iter().chain(orders) {
            for (from, to) in [(reads, reads), (reads, writes), (writes, reads), (writes, writes)] {
                edges.push(Edge::new(kind, false, from, to));
                edges.extend((all && kind == Kind::Po).then(|| Edge::new(kind, true, from, to)));
            }
        }
        for &dep in self.deps().iter().filter(|&&dep| fences || dep != Dep::CtrlFence) {
            edges.push(Edge::new(Kind::Dep(dep), false, reads, writes));
            edges.extend((dep != Dep::Data).then(|| Edge::new(Kind::Dep(dep), false, reads, reads)));
        }
        edges
    }

    /// Whether a file of it is a table of instructions.
    pub(crate) fn is_assembly(self) -> bool {
        !matches!(self, Dialect::C | Dialect::Kernel)
    }

    /// How its instructions are written.
    pub(crate) fn assembly(self) -> &'static dyn Assembly {
        match self {
            Dialect::Ppc => &ppc::Ppc,
            Dialect::X86 => &x86::X86 { wide: false },
            Dialect::X86_64 => &x86::X86 { wide: true },
            Dialect::AArch64 => &aarch64::AArch64,
            Dialect::Arm => &arm::Arm,
            Dialect::RiscV => &riscv::RiscV,
            Dialect::C => &c::C11,
            Dialect::Kernel => &kernel::Kernel,
        }
    }
}
