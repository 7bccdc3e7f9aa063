//! Locations: the scalar cells of all objects, numbered densely as they are met.
//!
//! Global objects have declared cells. An object made at run time is identified by who made it, how many it had made
//! before, where, and how large it is, so that it is the same object in every execution that makes it; its cells are
//! decided by the first access at a place. Where declared cells overlap (unions) the first access decides too.
//!
//! An access that hits no cell exactly goes through the cells that it overlaps, in pieces (`pieces.rs`). Where that will not do,
//! because the access is atomic or others access the place at the same time, the exploration starts over with a layout
//! ([`Layouts`]) that has a cell there.

use crate::reductions::conflicts::CellKey;
use crate::work::cells::{Cells, Owner};
use fencepost_answer::trace::Object as Named;
use fencepost_ir::{Location, Object, ObjectId, Program, Span, Value, Width, wide};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A memory cell, by number.
pub type LocId = u32;

/// Marks an event without a location.
pub const NO_LOC: LocId = LocId::MAX;

/// Why an address cannot be accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BadAccess {
    /// The null pointer, or a small number.
    Null,
    /// A number that is no address.
    NotAPointer,
    /// It lies outside its object, or not at the start of a cell.
    OutOfBounds,
    /// The access is wider or narrower than the cell of this object; `u32::MAX` is one that nobody else can reach.
    MixedSize(u32),
    /// A constant is written.
    Constant,
}

/// What made an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Storage {
    /// Declared in the program.
    Global,
    /// `malloc` and the like.
    Heap,
    /// A local object.
    Local,
    /// A thread's copy of a global one.
    ThreadLocal,
}

/// What identifies an object that is made at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    /// Whose.
    pub thread: u16,
    /// How many the thread had made before.
    pub number: u32,
    /// The operation, or the template of a thread-local object.
    pub site: u32,
    /// Its size.
    pub size: u32,
    /// What it is.
    pub storage: Storage,
}

/// An object in words that mean the same in every attempt at an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ObjectKey {
    /// A declared one, by its number.
    Global(u32),
    /// One made at run time: by whom, and how many it had made before.
    Made(u16, u32),
    /// A thread's copy of a global one.
    ThreadLocal(u16, u32),
}

impl Identity {
    fn key(self) -> ObjectKey {
        match self.storage {
            Storage::ThreadLocal => ObjectKey::ThreadLocal(self.thread, self.site),
            _ => ObjectKey::Made(self.thread, self.number),
        }
    }
}

/// Where the cells of an object are that is accessed with several sizes.
#[derive(Clone, Debug)]
struct Layout {
    /// Cells that must be there, as offset and width; they do not overlap.
    cells: Vec<(u32, Width)>,
    /// The width of the others, where nothing is declared.
    grain: Width,
    /// No layout will do: what is wrong with the object is said.
    given_up: bool,
}

/// The layouts of the objects that need one.
#[derive(Clone, Debug, Default)]
pub struct Layouts(FxHashMap<ObjectKey, Layout>);

impl Layouts {
    /// Asks for a cell, which an atomic access needs. If another one must be there, no layout will do; of two atomic accesses
    /// the narrower one then has its cell, so that the wider one is at fault: it comes last where somebody waits for what others
    /// write byte by byte.
    pub fn ask(&mut self, key: ObjectKey, offset: u32, width: Width, is_atomic: bool) {
        let grain = width.min(Width::W64);
        let fresh = || Layout { cells: Vec::new(), grain, given_up: false };
        let layout = self.0.entry(key).or_insert_with(fresh);
        let overlaps = |&cell: &(u32, Width)| overlap(cell, (offset, width));
        if layout.cells.iter().any(overlaps) {
            layout.given_up = true;
            let wider = |&(_, other): &(u32, Width)| other > width;
            if !is_atomic || !layout.cells.iter().filter(|cell| overlaps(cell)).all(wider) {
                return;
            }
            layout.cells.retain(|cell| !overlaps(cell));
        }
        layout.grain = grain;
        layout.cells.push((offset, width));
        layout.cells.sort();
    }
}

fn overlap((a, a_width): (u32, Width), (b, b_width): (u32, Width)) -> bool {
    let end = |offset: u32, width: Width| u64::from(offset) + u64::from(width.bytes());
    u64::from(a) < end(b, b_width) && u64::from(b) < end(a, a_width)
}

/// The part of an access that one cell has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The cell.
    pub loc: LocId,
    /// Bytes of the cell before the first one that is accessed.
    pub skipped: u32,
    /// Bytes of it that are accessed.
    pub taken: u32,
    /// Bytes that it has.
    pub bytes: u32,
    /// No declared cell of the object is there.
    pub padding: bool,
}

#[derive(Clone, Debug)]
struct ObjectInfo {
    key: ObjectKey,
    owner: Owner,
    layout: Option<Layout>,
    name: String,
    size: u32,
    storage: Storage,
    span: Span,
    /// Declared cells (offset, width, initial value), by offset.
    declared: Vec<(u32, Width, Option<u64>)>,
    /// Who made it at run time, where, and how many others it had made before.
    maker: Option<(u16, u32, u32)>,
    /// Without a declared value: zero, or uninitialised.
    zeroed: bool,
    /// Any access within bounds makes a cell; otherwise only declared ones are hit.
    free_form: bool,
    /// It must not be written.
    constant: bool,
    /// Cells met so far: (offset, width) to number.
    met: Vec<(u32, Width, LocId)>,
}

impl ObjectInfo {
    /// Whether only an access decides that there is a cell: without it, there could be others.
    fn is_decided_by_access(&self, offset: u32, width: Width) -> bool {
        let first = self.declared.partition_point(|c| c.0 < offset);
        let mut here = self.declared[first..].iter().take_while(|c| c.0 == offset);
        self.layout.is_none() && (self.free_form || !here.any(|c| c.1 == width))
    }

    /// The cell that an object with a layout has at a place: one that must be there, a declared one, or the widest that
    /// fits between these and is no wider than the grain.
    fn laid_out(&self, offset: u32) -> (u32, Width) {
        let Some(layout) = &self.layout else { return (offset, Width::W8) };
        let has = |cell: (u32, Width)| overlap(cell, (offset, Width::W8));
        if let Some(&cell) = layout.cells.iter().find(|&&cell| has(cell)) {
            return cell;
        }
        let free = |cell: (u32, Width)| !layout.cells.iter().any(|&other| overlap(other, cell));
        let declared = || self.declared.iter().map(|&(o, w, _)| (o, w));
        if let Some(cell) = self.declared_at(offset).filter(|&cell| free(cell)) {
            return cell;
        }
        let unused = |cell| self.free_form || !declared().any(|other| overlap(other, cell) && free(other));
        let fits = |&(o, w): &(u32, Width)| o + w.bytes() <= self.size && free((o, w)) && unused((o, w));
        aligned(offset, layout.grain).find(fits).unwrap_or((offset, Width::W8))
    }

    /// The cell for a byte that no access has met: that of the layout, a declared one, or the widest between
    /// those that were met that reaches no further than the access.
    fn without_cell(&self, offset: u32, end: u32) -> (u32, Width) {
        if self.layout.is_some() {
            return self.laid_out(offset);
        }
        if let Some(cell) = self.declared_at(offset) {
            return cell;
        }
        let after = self.met.partition_point(|c| c.0 <= offset);
        let met = self.met.get(after).map_or(end, |c| c.0);
        let declared = match self.free_form {
            true => end,
            false => self.declared.get(self.declared.partition_point(|c| c.0 <= offset)).map_or(end, |c| c.0),
        };
        let end = end.min(met).min(declared);
        let fits = |&(o, w): &(u32, Width)| o == offset && o + w.bytes() <= end;
        aligned(offset, Width::W64).find(fits).unwrap_or((offset, Width::W8))
    }

    /// The declared cell that has a byte, where declared cells do not overlap.
    fn declared_at(&self, offset: u32) -> Option<(u32, Width)> {
        let after = self.declared.partition_point(|c| c.0 <= offset);
        let (o, w, _) = *self.declared.get(after.checked_sub(1)?)?;
        (!self.free_form && offset < o + w.bytes()).then_some((o, w))
    }

    /// What stands in a cell at first, byte by byte; nothing, if some byte has no value. Padding is zero.
    fn initial(&self, offset: u32, width: Width) -> Option<u64> {
        let first = self.declared.partition_point(|c| c.0 < offset);
        let mut here = self.declared[first..].iter().take_while(|c| c.0 == offset);
        if let Some(&(_, _, init)) = here.find(|c| c.1 == width) {
            return init;
        }
        let mut bytes = [0; wide::BYTES as usize];
        for (byte, place) in (0..width.bytes()).zip(&mut bytes) {
            let at = offset + byte;
            let mut inside = self.declared.iter().filter(|&&(o, w, _)| overlap((o, w), (at, Width::W8)));
            let is_padding = inside.clone().next().is_none();
            let byte_of = |&(o, w, init): &(u32, Width, Option<u64>)| {
                init.map(|init| wide::to_bytes(Value(init), w)[(at - o) as usize])
            };
            let known = inside.find_map(byte_of);
            let zero = self.zeroed || (is_padding && !self.declared.is_empty());
            *place = known.or(zero.then_some(0))?;
        }
        wide::from_bytes(&bytes, width).map(|value| value.0)
    }
}

/// The aligned cells around a byte, widest first.
fn aligned(offset: u32, widest: Width) -> impl Iterator<Item = (u32, Width)> {
    let widths = [Width::W64, Width::W32, Width::W16, Width::W8];
    let fits = move |w: &Width| w.bytes() <= widest.bytes();
    widths.into_iter().filter(fits).map(move |w| (offset & !(w.bytes() - 1), w))
}

/// All cells of a program, as far as they were met.
#[derive(Clone, Debug)]
pub struct Memory {
    objects: Vec<ObjectInfo>,
    made: FxHashMap<Identity, ObjectId>,
    cells: Vec<(Location, Width)>,
    init: Vec<Option<u64>>,
    layouts: Layouts,
    /// How many cells only accesses have decided on.
    decided: usize,
    /// Those that others have decided on before: they are there from the start.
    known: Option<Arc<Cells>>,
}

impl Memory {
    /// The program's global objects.
    pub fn new(program: &Program, layouts: &Layouts) -> Memory {
        let mut memory = Memory {
            objects: Vec::new(),
            made: FxHashMap::default(),
            cells: Vec::new(),
            init: Vec::new(),
            layouts: layouts.clone(),
            decided: 0,
            known: None,
        };
        for (number, object) in (0..).zip(&program.objects) {
            memory.add(object, Storage::Global, ObjectKey::Global(number), Owner::Global(number));
        }
        memory
    }

    /// The same with the cells that others have decided on.
    pub(crate) fn knowing(mut self, cells: &Arc<Cells>) -> Memory {
        self.known = Some(cells.clone());
        (0..self.objects.len()).for_each(|object| self.add_known(object));
        self
    }

    /// Makes the cells of an object that others have decided on. They may come from anywhere.
    fn add_known(&mut self, object: usize) {
        let Some(known) = self.known.clone() else { return };
        for (offset, width) in known.of(self.objects[object].owner) {
            let info = &self.objects[object];
            let fits = u64::from(offset) + u64::from(width.bytes()) <= u64::from(info.size);
            let near = &info.met[info.met.partition_point(|c| c.0 < offset).saturating_sub(1)..];
            let is_free = !near.iter().take(2).any(|&(o, w, _)| overlap((o, w), (offset, width)));
            if fits && is_free && info.is_decided_by_access(offset, width) {
                self.add_cell(ObjectId(object as u32), offset, width);
            }
        }
    }

    /// The cells that only accesses have decided on.
    pub(crate) fn decided(&self) -> Option<Cells> {
        let mut cells = Cells::default();
        for info in self.objects.iter().filter(|_| self.decided > 0) {
            let own = info.met.iter().filter(|&&(offset, width, _)| info.is_decided_by_access(offset, width));
            own.for_each(|&(offset, width, _)| cells.add(info.owner, offset, width));
        }
        (self.decided > 0).then_some(cells)
    }

    fn add(&mut self, object: &Object, storage: Storage, key: ObjectKey, owner: Owner) -> ObjectId {
        let mut declared: Vec<_> = object
            .cells
            .iter()
            .map(|c| (c.offset, c.width, c.init.map(|v| c.width.zero_extend(v).0)))
            .collect();
        declared.sort_by_key(|c| c.0);
        let overlap = declared.windows(2).any(|w| w[0].0 + w[0].1.bytes() > w[1].0);
        let id = ObjectId(self.objects.len() as u32);
        let layout = self.layouts.0.get(&key).cloned();
        let as_declared = !overlap && layout.is_none();
        self.objects.push(ObjectInfo {
            key,
            owner,
            layout,
            name: object.name.clone(),
            size: object.size,
            storage,
            span: object.span,
            declared,
            maker: None,
            zeroed: false,
            free_form: overlap,
            constant: object.constant,
            met: Vec::new(),
        });
        // The cells of global objects get the lowest numbers, in order.
        if storage == Storage::Global && as_declared {
            if object.cells.is_sorted_by_key(|cell| cell.offset) {
                self.add_declared(id);
            } else {
                for cell in &object.cells {
                    let _ = self.cell(id, cell.offset, cell.width);
                }
            }
        }
        id
    }

    /// Makes the declared cells of an object that has no others.
    fn add_declared(&mut self, object: ObjectId) {
        let info = &mut self.objects[object.0 as usize];
        for &(offset, width, init) in &info.declared {
            if u64::from(offset) + u64::from(width.bytes()) <= u64::from(info.size) {
                info.met.push((offset, width, self.cells.len() as LocId));
                self.cells.push((Location { object, offset }, width));
                self.init.push(init);
            }
        }
    }

    /// An object made at run time, from a template or from the heap.
    pub fn make(
        &mut self,
        identity: Identity,
        template: Option<&Object>,
        zeroed: bool,
        span: Span,
    ) -> ObjectId {
        if let Some(&id) = self.made.get(&identity) {
            return id;
        }
        let id = match template {
            Some(object) => self.add(object, identity.storage, identity.key(), Owner::Made(identity)),
            None => {
                let id = ObjectId(self.objects.len() as u32);
                let key = identity.key();
                self.objects.push(ObjectInfo {
                    key,
                    owner: Owner::Made(identity),
                    layout: self.layouts.0.get(&key).cloned(),
                    name: String::new(),
                    size: identity.size,
                    storage: identity.storage,
                    span,
                    declared: Vec::new(),
                    maker: None,
                    zeroed,
                    free_form: true,
                    constant: false,
                    met: Vec::new(),
                });
                id
            }
        };
        self.objects[id.0 as usize].maker = Some((identity.thread, identity.site, identity.number));
        self.made.insert(identity, id);
        self.add_known(id.0 as usize);
        id
    }

    /// A declared object as the template of a thread's copy.
    pub fn template(&self, object: ObjectId) -> Object {
        let info = &self.objects[object.0 as usize];
        let cells = info.declared.iter().map(|&(offset, width, init)| fencepost_ir::Cell {
            offset,
            width,
            init: init.map(Value),
        });
        let (name, cells) = (info.name.clone(), cells.collect());
        Object { name, size: info.size, cells, span: info.span, constant: info.constant }
    }

    /// Number of cells met so far.
    pub fn cells(&self) -> usize {
        self.cells.len()
    }

    /// The cell that an access of this width at this address hits.
    #[inline(always)]
    pub fn resolve(&mut self, address: u64, width: Width) -> Result<LocId, BadAccess> {
        let Some((object, offset)) = Value(address).as_pointer() else {
            return Err(if address < 4096 { BadAccess::Null } else { BadAccess::NotAPointer });
        };
        let info = self.objects.get(object.0 as usize).ok_or(BadAccess::NotAPointer)?;
        match info.met.first() {
            Some(&(o, w, loc)) if o == offset && w == width => Ok(loc),
            _ => self.cell(object, offset, width),
        }
    }

    fn cell(&mut self, object: ObjectId, offset: u32, width: Width) -> Result<LocId, BadAccess> {
        let info = &self.objects[object.0 as usize];
        if let Ok(at) = info.met.binary_search_by_key(&offset, |c| c.0) {
            let (_, met, loc) = info.met[at];
            return if met == width { Ok(loc) } else { Err(BadAccess::MixedSize(object.0)) };
        }
        let end = u64::from(offset) + u64::from(width.bytes());
        if end > u64::from(info.size) {
            return Err(BadAccess::OutOfBounds);
        }
        if info.layout.is_some() {
            return match info.laid_out(offset) == (offset, width) {
                true => Ok(self.add_cell(object, offset, width)),
                false => Err(BadAccess::MixedSize(object.0)),
            };
        }
        let first = info.declared.partition_point(|c| c.0 < offset);
        let mut here = info.declared[first..].iter().take_while(|c| c.0 == offset);
        let declared = here.any(|c| c.1 == width);
        // Cells that were met do not overlap each other, so that one of the neighbours does if any does.
        let at = info.met.partition_point(|c| c.0 < offset);
        let near = &info.met[at.saturating_sub(1)..];
        if near.iter().take(2).any(|&(o, w, _)| overlap((o, w), (offset, width))) {
            return Err(BadAccess::MixedSize(object.0));
        }
        if !declared && !info.free_form {
            return Err(BadAccess::MixedSize(object.0));
        }
        Ok(self.add_cell(object, offset, width))
    }

    fn add_cell(&mut self, object: ObjectId, offset: u32, width: Width) -> LocId {
        let info = &self.objects[object.0 as usize];
        self.decided += usize::from(info.is_decided_by_access(offset, width));
        let init = info.initial(offset, width);
        let loc = self.cells.len() as LocId;
        self.cells.push((Location { object, offset }, width));
        self.init.push(init);
        let met = &mut self.objects[object.0 as usize].met;
        let at = met.partition_point(|c| c.0 < offset);
        met.insert(at, (offset, width, loc));
        loc
    }

    /// The cell that has the byte `at` of an access within an object, and what the access has of it. Where there is none, one is
    /// made.
    pub fn piece(&mut self, address: u64, width: Width, at: u32) -> Option<Piece> {
        let (object, start) = Value(address).as_pointer()?;
        let info = self.objects.get(object.0 as usize)?;
        let offset = start.checked_add(at)?;
        let end = start.checked_add(width.bytes()).filter(|&end| end <= info.size && offset < end)?;
        let after = info.met.partition_point(|c| c.0 <= offset);
        let before = after.checked_sub(1).map(|i| info.met[i]).filter(|c| offset < c.0 + c.1.bytes());
        let (cell, cell_width, loc) = match before {
            Some(met) => met,
            None => {
                let (cell, cell_width) = info.without_cell(offset, end);
                (cell, cell_width, self.add_cell(object, cell, cell_width))
            }
        };
        let info = &self.objects[object.0 as usize];
        let padding = !info.declared.is_empty() && !info.free_form && info.declared_at(cell).is_none();
        let (skipped, bytes) = (offset - cell, cell_width.bytes());
        Some(Piece { loc, skipped, taken: (bytes - skipped).min(end - offset), bytes, padding })
    }

    /// The cell in words that mean the same to every worker.
    pub fn key(&self, loc: LocId) -> CellKey {
        let location = self.cells[loc as usize].0;
        CellKey { object: self.objects[location.object.0 as usize].key, offset: location.offset }
    }

    /// The same for an object.
    pub fn object_key(&self, object: ObjectId) -> Option<ObjectKey> {
        self.objects.get(object.0 as usize).map(|info| info.key)
    }

    /// What an access may ask a layout for: the object, unless none will do.
    pub fn may_ask(&self, address: u64) -> Option<(ObjectKey, u32)> {
        let (object, offset) = Value(address).as_pointer()?;
        let info = self.objects.get(object.0 as usize)?;
        let given_up = info.layout.as_ref().is_some_and(|layout| layout.given_up);
        (!given_up).then_some((info.key, offset))
    }

    /// Where the cell is.
    pub fn location(&self, loc: LocId) -> (Location, Width) {
        self.cells[loc as usize]
    }

    /// Its initial value, which may be undefined.
    #[inline(always)]
    pub fn init(&self, loc: LocId) -> u64 {
        self.init[loc as usize].unwrap_or(Value::UNDEFINED.0)
    }

    /// Whether it has an initial value.
    pub fn is_initialised(&self, loc: LocId) -> bool {
        self.init[loc as usize].is_some()
    }

    /// Whether the cell must not be written.
    #[inline(always)]
    pub fn is_constant(&self, loc: LocId) -> bool {
        self.objects[self.cells[loc as usize].0.object.0 as usize].constant
    }

    /// Size in bytes of an object.
    pub fn size(&self, object: ObjectId) -> Option<u32> {
        self.objects.get(object.0 as usize).map(|info| info.size)
    }

    /// What made an object.
    pub fn storage(&self, object: ObjectId) -> Option<Storage> {
        self.objects.get(object.0 as usize).map(|info| info.storage)
    }

    /// Where it was declared or made.
    pub fn span(&self, object: ObjectId) -> Option<Span> {
        self.objects.get(object.0 as usize).map(|info| info.span)
    }

    /// The thread that made it, and the operation.
    pub fn maker(&self, object: ObjectId) -> Option<(u16, u32)> {
        self.objects.get(object.0 as usize)?.maker.map(|(thread, site, _)| (thread, site))
    }

    /// How many objects that thread had made before.
    pub fn made_after(&self, object: ObjectId) -> u32 {
        self.objects.get(object.0 as usize).and_then(|info| info.maker).map_or(0, |(_, _, number)| number)
    }

    /// An object as people know it.
    pub fn shown(&self, object: ObjectId) -> Option<Named> {
        let info = self.objects.get(object.0 as usize)?;
        Some(match info.owner {
            Owner::Made(Identity { thread, number, .. }) if info.free_form => {
                Named::Allocated { thread: thread.into(), number }
            }
            _ => Named::Declared(info.name.clone()),
        })
    }

    /// The part of its object that a cell is: nothing if it is all of it.
    pub fn part(&self, loc: LocId) -> String {
        let (location, width) = self.location(loc);
        let info = &self.objects[location.object.0 as usize];
        if location.offset == 0 && info.size == width.bytes() {
            return String::new();
        }
        let uniform =
            info.size.is_multiple_of(width.bytes()) && location.offset.is_multiple_of(width.bytes());
        let even = info.declared.iter().all(|c| c.1 == width);
        match uniform && even && !info.declared.is_empty() {
            true => format!("[{}]", location.offset / width.bytes()),
            false => format!("+{}", location.offset),
        }
    }

    /// All objects of a kind of storage.
    pub fn objects(&self, storage: Storage) -> impl Iterator<Item = ObjectId> + '_ {
        let all = self.objects.iter().enumerate();
        all.filter(move |(_, info)| info.storage == storage).map(|(i, _)| ObjectId(i as u32))
    }
}
