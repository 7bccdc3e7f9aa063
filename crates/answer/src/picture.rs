//! A counterexample as a picture, before it is drawn: boxes in columns, and arrows between them.

use fencepost_diag::Span;

/// What to draw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// Above everything.
    pub title: String,
    /// What the columns are called, by the numbers of their threads; may be empty.
    pub threads: Vec<String>,
    /// The boxes, from top to bottom.
    pub boxes: Vec<Box>,
    /// Arrows between boxes.
    pub arrows: Vec<Arrow>,
}

/// A box.
#[derive(Clone, Debug, PartialEq)]
pub struct Box {
    /// Its column.
    pub thread: u32,
    /// What happens.
    pub event: String,
    /// Where, and the source text.
    pub place: String,
    /// Where in the source.
    pub span: Span,
    /// The finding is about this step.
    pub marked: bool,
}

/// An arrow from one box to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// Index of a box.
    pub from: usize,
    /// Index of a box.
    pub to: usize,
    /// What it means.
    pub kind: Kind,
    /// It is part of the cycle that tells why the behaviour is a weak one.
    pub on_cycle: bool,
}

/// The relations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The read reads the write.
    Rf,
    /// The next newer write of the cell.
    Co,
    /// The read does not see the write.
    Fr,
    /// The next step of the thread.
    Po,
    /// The address depends on what was read.
    Addr,
    /// What is written depends on what was read.
    Data,
    /// Whether it is done depends on what was read.
    Ctrl,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 7] = [Kind::Rf, Kind::Co, Kind::Fr, Kind::Po, Kind::Addr, Kind::Data, Kind::Ctrl];

    /// Its name in the literature.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Rf => "rf",
            Kind::Co => "co",
            Kind::Fr => "fr",
            Kind::Po => "po",
            Kind::Addr => "addr",
            Kind::Data => "data",
            Kind::Ctrl => "ctrl",
        }
    }

    /// What it means, for a legend.
    pub fn about(self) -> &'static str {
        match self {
            Kind::Rf => "the read reads this write",
            Kind::Co => "the next newer write of the cell",
            Kind::Fr => "the read does not see this write",
            Kind::Po => "the next step of the thread",
            Kind::Addr => "the address depends on what was read",
            Kind::Data => "what is written depends on what was read",
            Kind::Ctrl => "whether it is done depends on what was read",
        }
    }
}
