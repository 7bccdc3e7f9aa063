//! Objects and threads that are made at run time, under names that do not depend on how an execution is found.
//!
//! A thread is known by who starts it and how many that one has started before; an object by who makes it, how many that
//! one has made before, where, and how large it is. Both get their numbers when they are first met, so a pointer means
//! the same object in all traces of an enumeration.
//!
//! The cells of a declared object are declared. Where they overlap (unions), and in memory from `Alloc`, the first access
//! at a place decides, as the documentation of [`Object::cells`] says.

use crate::findings::ProblemKind;
use crate::scopes::{Joins, joins};
use fencepost_ir::{
    Cell, FunctionId, Location, Object, ObjectId, Program, Span, ThreadId, Value, Width, wide,
};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Addresses below this are the null pointer plus something.
const NULL_PAGE: u64 = 4096;

/// How an object came to be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Storage {
    /// Declared in the program.
    Global,
    /// By `Alloc`.
    Heap,
    /// By `Local`.
    Local,
    /// A thread's copy of a global one.
    ThreadLocal,
}

/// What identifies an object that was made at run time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Identity {
    /// Its maker.
    pub thread: ThreadId,
    /// How many objects the maker had made before; for a thread-local object the number of its template.
    pub number: u32,
    /// Function and instruction.
    pub at: (u32, u32),
    /// Its size.
    pub size: u32,
    /// How it came to be.
    pub storage: Storage,
}

#[derive(Clone, Debug)]
struct Thing {
    object: Object,
    storage: Storage,
    /// Cells without a declared value are zero.
    zeroed: bool,
    /// Accesses decide where the cells are.
    free_form: bool,
    /// No other thread can learn its address.
    private: bool,
    /// Cells that were accessed, if it is free-form.
    met: Vec<(u32, Width)>,
    /// Who made it, and where.
    maker: Option<(u32, (u32, u32))>,
}

impl Thing {
    fn new(object: Object, storage: Storage) -> Thing {
        let overlap = object.cells.windows(2).any(|w| w[0].offset + w[0].width.bytes() > w[1].offset);
        Thing {
            object,
            storage,
            zeroed: false,
            free_form: overlap,
            private: false,
            met: Vec::new(),
            maker: None,
        }
    }
}

impl Thing {
    /// What a byte holds at first, if anything.
    fn first_byte(&self, at: u32) -> Option<u8> {
        let has = |c: &&Cell| (c.offset..c.offset + c.width.bytes()).contains(&at);
        let mut cells = self.object.cells.iter().filter(has).peekable();
        if cells.peek().is_none() {
            // Padding of what is declared is zero.
            return (self.zeroed || !self.object.cells.is_empty()).then_some(0);
        }
        let byte = |c: &Cell| c.init.map(|value| wide::to_bytes(value, c.width)[(at - c.offset) as usize]);
        let known = cells.find_map(byte);
        known.or(self.zeroed.then_some(0))
    }
}

/// All objects and threads met so far.
pub struct World<'p> {
    /// The program.
    pub program: &'p Program,
    things: RefCell<Vec<Thing>>,
    made: RefCell<BTreeMap<Identity, ObjectId>>,
    started: RefCell<Vec<(ThreadId, u32)>>,
    joins: Joins,
}

impl<'p> World<'p> {
    /// The program before anything happens.
    pub fn new(program: &'p Program) -> World<'p> {
        let things = program.objects.iter().map(|o| Thing::new(o.clone(), Storage::Global)).collect();
        World {
            program,
            things: RefCell::new(things),
            made: RefCell::default(),
            started: RefCell::default(),
            joins: joins(program),
        }
    }

    /// Where the control dependencies of a branch end, if they do not reach to the end of the thread.
    pub fn join(&self, function: FunctionId, at: usize) -> Option<usize> {
        *self.joins.get(function.0 as usize)?.get(at)?
    }

    /// The same with threads that have their numbers already, as (starter, how many it started before, number).
    pub fn with_threads(program: &'p Program, threads: &[(u32, u32, u32)]) -> World<'p> {
        let world = World::new(program);
        let first = program.threads.len() as u32;
        // A number that nobody has is nobody's child; there are no more numbers than starts.
        let mut started = vec![(ThreadId(u32::MAX), 0); threads.len()];
        for &(parent, count, number) in threads {
            if let Some(place) = number.checked_sub(first).and_then(|i| started.get_mut(i as usize)) {
                *place = (ThreadId(parent), count);
            }
        }
        world.started.replace(started);
        world
    }

    /// The number of the thread that `parent` starts after it has started `count` others.
    pub fn thread(&self, parent: ThreadId, count: u32) -> ThreadId {
        let mut started = self.started.borrow_mut();
        let first = self.program.threads.len();
        let known = started.iter().position(|&s| s == (parent, count));
        let index = known.unwrap_or_else(|| {
            started.push((parent, count));
            started.len() - 1
        });
        ThreadId((first + index) as u32)
    }

    /// How many threads there may be.
    pub fn threads(&self) -> usize {
        self.program.threads.len() + self.started.borrow().len()
    }

    /// An object, made when it is first asked for.
    pub fn make(
        &self,
        identity: Identity,
        template: Option<&Object>,
        zeroed: bool,
        private: bool,
    ) -> ObjectId {
        let mut made = self.made.borrow_mut();
        if let Some(&id) = made.get(&identity) {
            return id;
        }
        let mut things = self.things.borrow_mut();
        let id = ObjectId(things.len() as u32);
        let thing = match template {
            Some(object) => Thing::new(object.clone(), identity.storage),
            None => {
                let name = format!("allocation {}.{}", identity.thread.0, identity.number);
                let object = Object {
                    name,
                    size: identity.size,
                    cells: Vec::new(),
                    span: Span::default(),
                    constant: false,
                };
                Thing { free_form: true, ..Thing::new(object, identity.storage) }
            }
        };
        let maker = Some((identity.thread.0, identity.at));
        things.push(Thing { zeroed, private, maker, ..thing });
        made.insert(identity, id);
        id
    }

    /// The cell that an access hits, or what is wrong with the address.
    pub fn resolve(&self, address: Value, width: Width) -> Result<Location, ProblemKind> {
        let Some((id, offset)) = address.as_pointer() else {
            let null = address.0 < NULL_PAGE;
            return Err(if null { ProblemKind::NullPointer } else { ProblemKind::BadPointer });
        };
        let mut things = self.things.borrow_mut();
        let thing = things.get_mut(id.0 as usize).ok_or(ProblemKind::BadPointer)?;
        let location = Location { object: id, offset };
        let (start, end) = (u64::from(offset), u64::from(offset) + u64::from(width.bytes()));
        let overlaps = |o: u32, w: Width| u64::from(o) < end && u64::from(o) + u64::from(w.bytes()) > start;
        if end > u64::from(thing.object.size) {
            return Err(ProblemKind::OutOfBounds);
        }
        if thing.free_form {
            if thing.met.contains(&(offset, width)) {
                return Ok(location);
            }
            if thing.met.iter().any(|&(o, w)| overlaps(o, w)) {
                return Err(ProblemKind::MixedSize);
            }
            thing.met.push((offset, width));
            return Ok(location);
        }
        // A record may have a cell elsewhere than the declaration: then the declared ones there are none.
        let cells = &thing.object.cells;
        let elsewhere = thing.met.iter().any(|&(o, w)| overlaps(o, w) && (o, w) != (offset, width));
        match !elsewhere && cells.iter().any(|c| c.offset == offset && c.width == width) {
            true => Ok(location),
            false => Err(ProblemKind::MixedSize),
        }
    }

    /// Notes that there is a cell: a record says so.
    pub fn meet(&self, location: Location, width: Width) {
        if let Some(thing) = self.things.borrow_mut().get_mut(location.object.0 as usize)
            && !thing.met.contains(&(location.offset, width))
        {
            thing.met.push((location.offset, width));
        }
    }

    /// The cell that has the byte `at` of an access, where the access hits none as it is: one that was met, a declared one, or
    /// else
    /// the widest that is aligned and no longer than what is left before the next.
    pub fn cell_at(&self, address: Value, width: Width, at: u32) -> Option<(Location, Width)> {
        let (id, start) = address.as_pointer()?;
        let mut things = self.things.borrow_mut();
        let thing = things.get_mut(id.0 as usize)?;
        let (byte, end) = (start + at, start + width.bytes());
        let mut cells = thing.met.clone();
        if !thing.free_form {
            cells.extend(thing.object.cells.iter().map(|c| (c.offset, c.width)));
        }
        let known = cells.iter().find(|(o, w)| (*o..o + w.bytes()).contains(&byte)).copied();
        let (offset, cell) = known.unwrap_or_else(|| {
            let room = cells.iter().map(|&(o, _)| o).filter(|&o| o > byte).fold(end, u32::min) - byte;
            let fits = |w: &&Width| byte.is_multiple_of(w.bytes()) && w.bytes() <= room;
            (byte, *Width::ALL.iter().rev().find(fits).unwrap_or(&Width::W8))
        });
        if !thing.met.contains(&(offset, cell)) {
            thing.met.push((offset, cell));
        }
        Some((Location { object: id, offset }, cell))
    }

    /// Whether no declared cell of a declared object is there.
    pub fn is_padding(&self, location: Location, width: Width) -> bool {
        let (start, end) = (location.offset, location.offset + width.bytes());
        let padding = |thing: &Thing| {
            let cells = &thing.object.cells;
            let overlaps = |c: &Cell| c.offset < end && c.offset + c.width.bytes() > start;
            !cells.is_empty() && !thing.free_form && !cells.iter().any(overlaps)
        };
        self.look(location.object, padding) == Some(true)
    }

    /// Whether the cell must not be written.
    pub fn is_constant(&self, location: Location) -> bool {
        self.look(location.object, |thing| thing.object.constant) == Some(true)
    }

    /// Forgets which cells were met: who comes first decides anew.
    pub fn forget_cells(&self) {
        self.things.borrow_mut().iter_mut().for_each(|thing| thing.met.clear());
    }

    fn look<T>(&self, object: ObjectId, read: impl FnOnce(&Thing) -> T) -> Option<T> {
        self.things.borrow().get(object.0 as usize).map(read)
    }

    /// The initial value of a cell, zero-extended; `None` if it has none.
    pub fn initial(&self, location: Location, width: Width) -> Option<Value> {
        let value = |thing: &Thing| {
            let same = |c: &&Cell| c.offset == location.offset && c.width == width;
            if let Some(cell) = thing.object.cells.iter().find(same) {
                return cell.init.map(|value| width.zero_extend(value));
            }
            let bytes = (location.offset..location.offset + width.bytes()).map(|at| thing.first_byte(at));
            let known: Vec<u8> = bytes.collect::<Option<_>>()?;
            let mut bytes = [0; wide::BYTES as usize];
            bytes[..known.len()].copy_from_slice(&known);
            wide::from_bytes(&bytes, width)
        };
        self.look(location.object, value).flatten()
    }

    /// How an object came to be.
    pub fn storage(&self, object: ObjectId) -> Option<Storage> {
        self.look(object, |thing| thing.storage)
    }

    /// Whether no other thread can learn its address.
    pub fn is_private(&self, object: ObjectId) -> bool {
        self.look(object, |thing| thing.private) == Some(true)
    }

    /// Size in bytes.
    pub fn size(&self, object: ObjectId) -> Option<u32> {
        self.look(object, |thing| thing.object.size)
    }

    /// Its name.
    pub fn name(&self, object: ObjectId) -> Option<String> {
        self.look(object, |thing| thing.object.name.clone())
    }

    /// Where it was declared.
    pub fn span(&self, object: ObjectId) -> Span {
        self.look(object, |thing| thing.object.span).unwrap_or_default()
    }

    /// The thread that made it, function and instruction.
    pub fn maker(&self, object: ObjectId) -> Option<(u32, (u32, u32))> {
        self.look(object, |thing| thing.maker).flatten()
    }
}
