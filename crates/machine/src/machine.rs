//! What a stateful search needs to know about an operational semantics.

/// What a state is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The run goes on from here, or is blocked.
    Ordinary,
    /// The run has ended as it should.
    Final,
    /// Something went wrong here.
    Bad,
    /// The machine cannot follow the program here; the search has to give up.
    Limit,
}

/// An operational semantics. A state is a row of `width` words, equal rows are equal states, and what the words mean
/// is the machine's business.
///
/// Soundness of a search rests on two promises: `expand` gives every successor of a row (up to a reduction that the
/// machine answers for), and it gives the same set each time.
pub trait Machine: Sync {
    /// What a step did, detailed enough to do it again.
    type Label;
    /// One worker's view of the machine, with its caches.
    type Worker<'m>: Worker<Label = Self::Label> + Send
    where
        Self: 'm;

    /// Words per state.
    fn width(&self) -> usize;

    /// A new worker.
    fn worker(&self) -> Self::Worker<'_>;

    /// About how many bytes the machine itself keeps.
    fn bytes(&self) -> usize;
}

/// Expands states.
pub trait Worker {
    /// As in [`Machine`].
    type Label;

    /// The initial state.
    fn initial(&mut self) -> Vec<u32>;

    /// Appends the successors of a state, and says what kind of state it is. Called once per stored state.
    fn expand(&mut self, row: &[u32], out: &mut Successors<Self::Label>) -> Kind;
}

/// Successors, appended by a machine.
pub struct Successors<L> {
    width: usize,
    rows: Vec<u32>,
    labels: Option<Vec<L>>,
}

impl<L> Successors<L> {
    /// No successors yet; labels are kept only if asked for.
    pub fn new(width: usize, labels: bool) -> Successors<L> {
        Successors { width, rows: Vec::new(), labels: labels.then(Vec::new) }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.rows.clear();
        if let Some(labels) = &mut self.labels {
            labels.clear();
        }
    }

    /// Adds one.
    pub fn push(&mut self, row: &[u32], label: impl FnOnce() -> L) {
        self.rows.extend_from_slice(row);
        if let Some(labels) = &mut self.labels {
            labels.push(label());
        }
    }

    /// True if labels are kept.
    pub fn wants_labels(&self) -> bool {
        self.labels.is_some()
    }

    /// The rows.
    pub fn rows(&self) -> impl Iterator<Item = &[u32]> {
        self.rows.chunks_exact(self.width.max(1))
    }

    /// The labels, in the order of the rows; empty unless asked for.
    pub fn into_labels(self) -> Vec<L> {
        self.labels.unwrap_or_default()
    }

    /// The same, to look at.
    pub fn labels(&self) -> &[L] {
        self.labels.as_deref().unwrap_or(&[])
    }
}
