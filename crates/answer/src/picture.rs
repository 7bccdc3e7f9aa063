//! A counterexample as a picture, before it is drawn: boxes in columns, and arrows between them.

use fencepost_diag::Span;

/// What to draw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// Above everything.
    pub title: String,
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
}

impl Kind {
    /// Its name in the literature.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Rf => "rf",
            Kind::Co => "co",
            Kind::Fr => "fr",
        }
    }

    /// What it means, for a legend.
    pub fn about(self) -> &'static str {
        match self {
            Kind::Rf => "the read reads this write",
            Kind::Co => "the next newer write of the cell",
            Kind::Fr => "the read does not see this write",
        }
    }
}
