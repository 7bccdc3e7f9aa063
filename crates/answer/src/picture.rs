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
    /// A dependency: of an address, of data, or by a branch.
    Dependency,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 5] = [Kind::Rf, Kind::Co, Kind::Fr, Kind::Po, Kind::Dependency];

    /// Its name in the literature.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Rf => "rf",
            Kind::Co => "co",
            Kind::Fr => "fr",
            Kind::Po => "po",
            Kind::Dependency => "dep",
        }
    }

    /// What it means, for a legend.
    pub fn about(self) -> &'static str {
        match self {
            Kind::Rf => "the read reads this write",
            Kind::Co => "the next newer write of the cell",
            Kind::Fr => "the read does not see this write",
            Kind::Po => "the next step of the thread",
            Kind::Dependency => "what is done here depends on what was read",
        }
    }
}
