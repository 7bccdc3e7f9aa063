//! Accesses that hit no cell as it is: one thread may see the bytes of an int, give memory another type by use, copy structures
//! word by word.
//!
//! Such an access, if it is not atomic, goes in *pieces*: it reads the cells that it overlaps one after the other, whole, and
//! takes
//! its bytes from them; to write, it puts its bytes into what it has read and writes the cell back, unless it covers
//! the whole cell. To a thread that is alone with the cells, that is the same.
//!
//! It is the same as well if all accesses to these cells by others are ordered before or after the pieces. That is looked at
//! in every finished graph ([`unordered`]). If some are not, the access gets a cell of its own, and the others go in
//! pieces; if that place has a cell that another access needed for the same reason, two threads access memory with
//! different sizes at the same time: no model here defines that, and it is a finding. Atomic accesses do not go in
//! pieces, and ask for a cell at once.
//!
//! Which accesses go in pieces, and where cells must be, is found by starting over: at first all are taken as they are.

use crate::findings::view::View;
use crate::models::model::MemoryModel;
use crate::search::row::RowWidth;
use crate::threads::code::{Arg, FP, Half, Op, Pc, PieceOp, Undefined, frame_reg};
use crate::threads::interpret::{FaultKind, Machine, Stop};
use crate::threads::lower::{Lowering, arg, undefined};
use crate::threads::memory::{BadAccess, Piece};
use crate::threads::path::{EventId, INIT, Kind};
use crate::work::preparation::StartOver;
use fencepost_ir::{
    Ann, BinaryOp, Extend, FailKind, Instr, Operand, Order, Program, Reg, UnaryOp, Value, Width, wide,
};

/// Whether the access of an instruction may go in pieces: it is not atomic, and no wider than a word.
pub fn goes_in_pieces(program: &Program, at: (u32, u32)) -> bool {
    let function = program.functions.get(at.0 as usize);
    let Some(instr) = function.and_then(|f| f.body.get(at.1 as usize)) else { return false };
    match instr {
        Instr::Load { ann, width, .. }
        | Instr::CopyLoad { ann, width, .. }
        | Instr::Store { ann, width, .. } => is_plain(*ann, *width),
        _ => false,
    }
}

fn is_plain(ann: Ann, width: Width) -> bool {
    ann.order == Order::Plain && !ann.exclusive && width <= Width::W64
}

/// Whether the access of an operation needs a cell of its own, always.
pub(crate) fn stays_whole(op: &Op) -> bool {
    match *op {
        Op::LoadPiece { .. } | Op::StorePiece { .. } => false,
        Op::Load { ann, width, half, .. } | Op::Store { ann, width, half, .. } => {
            !is_plain(ann, width) || !matches!(half, Half::None)
        }
        _ => true,
    }
}

impl Lowering<'_> {
    /// Lowers an access that may have to go in pieces; false if it is none.
    pub(crate) fn in_pieces(&mut self, instr: &Instr) -> bool {
        match *instr {
            Instr::Load { dst, addr, width, extend, ann }
            | Instr::CopyLoad { dst, addr, width, extend, ann, .. }
                if is_plain(ann, width) =>
            {
                self.load_in_pieces(dst, addr, (width, extend), ann, undefined(instr));
            }
            Instr::Store { addr, value, width, ann } if is_plain(ann, width) => {
                self.store_in_pieces(addr, value, width, ann);
            }
            _ => return false,
        }
        true
    }

    /// fits? load : (at = 0; acc = 0; do { part = next cell; gather; advance } while (at < width); dst = acc)
    fn load_in_pieces(
        &mut self,
        dst: Reg,
        addr: Operand,
        (width, extend): (Width, Extend),
        ann: Ann,
        undefined: Undefined,
    ) {
        let [at, acc, part] = [(); 3].map(|()| self.temporary());
        let place = self.place(addr, at);
        let (exact, end) = (self.here() + 2, self.here() + 12);
        self.branch_if_fits(place, width, exact);
        self.load(dst, arg(addr), (width, extend), ann, undefined);
        self.push(Op::Jump(end));
        self.push(Op::Move { dst: at, a: Arg::Const(0) });
        self.push(Op::Move { dst: acc, a: Arg::Const(0) });
        let head = self.here();
        self.push(Op::LoadPiece { dst: part, addr: arg(addr), at, width, ann, undefined });
        let (a, b) = (Arg::Reg(acc), Arg::Reg(part));
        self.push(Op::Piece { what: PieceOp::Gather(undefined), dst: acc, a, b, place, width });
        self.repeat(place, width, at, part, head);
        let (op, dst) = (UnaryOp::ZeroExtend, frame_reg(dst));
        self.push(Op::Unary { op, width, extend, dst, a: Arg::Reg(acc) });
        debug_assert_eq!(self.here(), end);
    }

    /// fits? store : (at = 0; do { part = covered? 0 : next cell; merge; next cell = part; advance } while (at < width))
    fn store_in_pieces(&mut self, addr: Operand, value: Operand, width: Width, ann: Ann) {
        let [at, part] = [(); 2].map(|()| self.temporary());
        let place = self.place(addr, at);
        let (exact, end) = (self.here() + 2, self.here() + 15);
        self.branch_if_fits(place, width, exact);
        self.store(arg(addr), arg(value), width, ann);
        self.push(Op::Jump(end));
        self.push(Op::Move { dst: at, a: Arg::Const(0) });
        let head = self.here();
        let nothing = Arg::Const(0);
        self.push(Op::Piece { what: PieceOp::Covers, dst: part, a: nothing, b: nothing, place, width });
        let (covered, merge) = (self.here() + 3, self.here() + 4);
        self.push(Op::Branch {
            condition: Arg::Reg(part),
            then_to: covered,
            else_to: self.here() + 1,
            internal: true,
        });
        let undefined = Undefined::Kept;
        self.push(Op::LoadPiece { dst: part, addr: arg(addr), at, width, ann, undefined });
        self.push(Op::Jump(merge));
        self.push(Op::Move { dst: part, a: Arg::Const(0) });
        let (a, b) = (Arg::Reg(part), arg(value));
        self.push(Op::Piece { what: PieceOp::Merge, dst: part, a, b, place, width });
        self.push(Op::StorePiece { addr: arg(addr), at, value: part, width, ann });
        self.repeat(place, width, at, part, head);
        debug_assert_eq!(self.here(), end);
    }

    fn place(&mut self, addr: Operand, at: u16) -> u32 {
        self.code.lists.push(vec![arg(addr), Arg::Reg(at)]);
        self.code.lists.len() as u32 - 1
    }

    fn branch_if_fits(&mut self, place: u32, width: Width, exact: Pc) {
        let (fits, nothing) = (self.temporary(), Arg::Const(0));
        self.push(Op::Piece { what: PieceOp::Fits, dst: fits, a: nothing, b: nothing, place, width });
        let (then_to, else_to) = (exact, exact + 2);
        self.push(Op::Branch { condition: Arg::Reg(fits), then_to, else_to, internal: true });
    }

    fn repeat(&mut self, place: u32, width: Width, at: u16, scratch: u16, head: Pc) {
        let nothing = Arg::Const(0);
        self.push(Op::Piece { what: PieceOp::Advance, dst: at, a: nothing, b: nothing, place, width });
        let (op, extend) = (BinaryOp::LtU, Extend::Zero);
        let (a, b) = (Arg::Reg(at), Arg::Const(u64::from(width.bytes())));
        self.push(Op::Binary { op, width: Width::W64, extend, dst: scratch, a, b });
        let (then_to, else_to) = (head, self.here() + 1);
        self.push(Op::Branch { condition: Arg::Reg(scratch), then_to, else_to, internal: true });
    }
}

/// So many bytes, all ones.
fn mask(bytes: u32) -> u64 {
    if bytes >= 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 }
}

/// Memory of which some bytes have a value and others have none, and that cannot be told apart.
const PARTLY: FaultKind = FaultKind::Fail(FailKind::Unsupported);

impl<M> Machine<'_, M> {
    /// An access hits no cell as it is.
    #[cold]
    pub(crate) fn ask(&mut self, pc: Pc, address: u64, width: Width) {
        let at = self.code.source[pc as usize];
        let place = self.memory.may_ask(address);
        self.mixed =
            place.map(|(object, offset)| StartOver::Mixed { at, place: Some((object, offset, width)) });
    }

    /// A mistake in an access to an object that nobody else can reach.
    #[cold]
    pub(crate) fn private_fault(&mut self, pc: Pc, kind: FaultKind) -> Stop {
        if let FaultKind::BadAccess(BadAccess::MixedSize(_)) = kind {
            self.mixed = Some(StartOver::Mixed { at: self.code.source[pc as usize], place: None });
        }
        self.fault(pc, kind)
    }

    pub(crate) fn piece_access(&mut self, pc: Pc, address: u64, at: u64, width: Width, value: u64) -> Stop {
        match self.memory.piece(address, width, at as u32) {
            Some(piece) => Stop::Event(pc, piece.loc, value),
            None => self.fault(pc, FaultKind::BadAccess(BadAccess::OutOfBounds)),
        }
    }

    /// A computation about an access in pieces; see [`PieceOp`].
    pub(crate) fn piece(
        &mut self,
        pc: Pc,
        what: PieceOp,
        (address, width, at): (u64, Width, u64),
        a: u64,
        b: u64,
    ) -> Result<u64, FaultKind> {
        if what == PieceOp::Fits {
            let mixed = matches!(self.memory.resolve(address, width), Err(BadAccess::MixedSize(_)));
            return Ok(u64::from(!mixed));
        }
        let found = self.memory.piece(address, width, at as u32);
        let piece = found.ok_or(FaultKind::BadAccess(BadAccess::OutOfBounds))?;
        match what {
            PieceOp::Fits => Ok(1),
            PieceOp::Covers => Ok(u64::from(piece.taken == piece.bytes)),
            PieceOp::Advance => Ok(at + u64::from(piece.taken)),
            PieceOp::Gather(undefined) => gather(piece, undefined, at, a, b).ok_or(PARTLY),
            PieceOp::Merge => match merge(piece, at, a, b) {
                Ok(value) => Ok(value),
                // Two words that do not fit into one value.
                Err(Apart::Large) => Err(PARTLY),
                Err(Apart::Partly) => {
                    // A cell of its own would tell what has a value from what has none.
                    self.ask(pc, address, width);
                    Err(PARTLY)
                }
            },
        }
    }
}

/// What was read so far with a piece; nothing, if some of it has a value and some has none, and it is only to be copied.
fn gather(piece: Piece, undefined: Undefined, at: u64, so_far: u64, cell: u64) -> Option<u64> {
    let nothing = Value::UNDEFINED.0;
    let cell = match cell == nothing {
        true if undefined != Undefined::Kept || (piece.padding && at > 0) => 0,
        true if at == 0 || so_far == nothing => return Some(nothing),
        true => return None,
        false if at > 0 && so_far == nothing => return None,
        false => cell,
    };
    let so_far = if so_far == nothing { 0 } else { so_far };
    let taken = match piece.bytes {
        wide::BYTES => wide::halves(Value(cell))[piece.skipped as usize / 8] >> (8 * (piece.skipped % 8)),
        _ => cell >> (8 * piece.skipped),
    };
    Some(so_far | (taken & mask(piece.taken)) << (8 * at))
}

/// Why a cell cannot take a part of a value.
enum Apart {
    /// One has a value and the other has none.
    Partly,
    /// The two words of the cell are too large for one value.
    Large,
}

/// The content of a cell with a part of a value in it.
fn merge(piece: Piece, at: u64, cell: u64, value: u64) -> Result<u64, Apart> {
    let nothing = Value::UNDEFINED.0;
    let whole = piece.taken == piece.bytes;
    let cell = match (cell == nothing, value == nothing) {
        (true, true) => return Ok(nothing),
        (_, true) if whole => return Ok(nothing),
        (_, true) => return Err(Apart::Partly),
        (true, false) if !piece.padding => return Err(Apart::Partly),
        (true, false) => 0,
        (false, false) => cell,
    };
    let part = value >> (8 * at) & mask(piece.taken);
    if piece.bytes == wide::BYTES {
        // No access but an atomic one is wider than a word, so that the part is within one of the two.
        let mut words = wide::halves(Value(cell));
        let (word, shift) = (&mut words[piece.skipped as usize / 8], 8 * (piece.skipped % 8));
        *word = *word & !(mask(piece.taken) << shift) | part << shift;
        return wide::joined(words[0], words[1]).map(|value| value.0).ok_or(Apart::Large);
    }
    let part = part << (8 * piece.skipped);
    Ok(cell & !(mask(piece.taken) << (8 * piece.skipped)) | part)
}

/// A piece, and an access by another thread to its cell that is not ordered before or after it, one of them a write.
pub(crate) fn unordered<M: MemoryModel<W>, W: RowWidth>(view: &View<'_, M, W>) -> Option<(EventId, EventId)> {
    let graph = view.graph;
    let accesses = graph.reads() | graph.writes();
    let node = |e: usize| view.trie.node(graph.node(e));
    let is_piece = |e: usize| {
        let op = &view.subject.code.ops[node(e).pc() as usize];
        matches!(op, Op::LoadPiece { .. } | Op::StorePiece { .. })
    };
    // Where an access is in the coherence order.
    let place = |e: usize| match node(e).kind {
        Kind::Read if graph.rf(e) == INIT => Some(0),
        Kind::Read => graph.position(graph.rf(e), node(e).loc()).map(|p| p + 1),
        _ => graph.position(e as EventId, node(e).loc()).map(|p| p + 1),
    };
    let ordered = |a: usize, b: usize| view.happens_before(a, b) && place(a) <= place(b);
    for e in accesses.iter().filter(|&e| is_piece(e)) {
        for other in accesses.iter() {
            let apart = node(other).loc() != node(e).loc() || node(other).thread == node(e).thread;
            let reads = node(other).kind == Kind::Read && node(e).kind == Kind::Read;
            if !apart && !reads && !ordered(e, other) && !ordered(other, e) {
                return Some((e as EventId, other as EventId));
            }
        }
    }
    None
}

/// What the access of a piece may ask for, unless no layout will do: another access needs the cell as it is, or the object has
/// been given up.
pub(crate) fn asks<M: MemoryModel<W>, W: RowWidth>(
    view: &View<'_, M, W>,
    (piece, other): (EventId, EventId),
) -> Option<StartOver> {
    let (graph, layout) = (view.graph, view.subject.layout);
    let op =
        |event: EventId| &view.subject.code.ops[view.trie.node(graph.node(event as usize)).pc() as usize];
    if stays_whole(op(other)) {
        return None;
    }
    let node = view.trie.node(graph.node(piece as usize));
    let (Op::LoadPiece { addr, width, .. } | Op::StorePiece { addr, width, .. }) =
        view.subject.code.ops[node.pc() as usize]
    else {
        return None;
    };
    let thread = usize::from(node.thread);
    let registers = graph.registers(layout, thread, (piece - layout.base[thread]) as usize);
    let address = match addr {
        Arg::Reg(r) => registers[registers[FP] as usize + r as usize],
        Arg::Const(value) => value,
    };
    let (object, offset) = view.memory.may_ask(address)?;
    let at = view.subject.code.source[node.pc() as usize];
    Some(StartOver::Mixed { at, place: Some((object, offset, width)) })
}
