//! Locations: the scalar cells of all objects, numbered densely as they are met.
//!
//! Global objects have declared cells. An object made at run time is identified by who made it, how many it had made
//! before, where, and how large it is, so that it is the same object in every execution that makes it; its cells are
//! decided by the first access at a place. Where declared cells overlap (unions) the first access decides too.

use fencepost_ir::{Location, Object, ObjectId, Program, Span, Value, Width};
use rustc_hash::FxHashMap;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

#[derive(Clone, Debug)]
struct ObjectInfo {
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

/// All cells of a program, as far as they were met.
#[derive(Clone, Debug)]
pub struct Memory {
    objects: Vec<ObjectInfo>,
    made: FxHashMap<Identity, ObjectId>,
    cells: Vec<(Location, Width)>,
    init: Vec<Option<u64>>,
}

impl Memory {
    /// The program's global objects.
    pub fn new(program: &Program) -> Memory {
        let mut memory =
            Memory { objects: Vec::new(), made: FxHashMap::default(), cells: Vec::new(), init: Vec::new() };
        for object in &program.objects {
            memory.add(object, Storage::Global);
        }
        memory
    }

    fn add(&mut self, object: &Object, storage: Storage) -> ObjectId {
        let mut declared: Vec<_> = object
            .cells
            .iter()
            .map(|c| (c.offset, c.width, c.init.map(|v| c.width.zero_extend(v).0)))
            .collect();
        declared.sort_by_key(|c| c.0);
        let overlap = declared.windows(2).any(|w| w[0].0 + w[0].1.bytes() > w[1].0);
        let id = ObjectId(self.objects.len() as u32);
        self.objects.push(ObjectInfo {
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
        if storage == Storage::Global && !overlap {
            for cell in &object.cells {
                let _ = self.cell(id, cell.offset, cell.width);
            }
        }
        id
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
            Some(object) => self.add(object, identity.storage),
            None => {
                let id = ObjectId(self.objects.len() as u32);
                self.objects.push(ObjectInfo {
                    name: format!("allocation {}.{}", identity.thread, identity.number),
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
        let first = info.declared.partition_point(|c| c.0 < offset);
        let mut here = info.declared[first..].iter().take_while(|c| c.0 == offset);
        let declared = here.find(|c| c.1 == width);
        let overlaps = |o: u32, w: Width| u64::from(o) < end && u64::from(o + w.bytes()) > u64::from(offset);
        // Cells that were met do not overlap each other, so that one of the neighbours does if any does.
        let at = info.met.partition_point(|c| c.0 < offset);
        if info.met[at.saturating_sub(1)..].iter().take(2).any(|&(o, w, _)| overlaps(o, w)) {
            return Err(BadAccess::MixedSize(object.0));
        }
        if declared.is_none() && !info.free_form {
            let inside = info.declared.iter().any(|&(o, w, _)| overlaps(o, w));
            return Err(if inside { BadAccess::MixedSize(object.0) } else { BadAccess::OutOfBounds });
        }
        let init = match declared {
            Some(&(_, _, init)) => init,
            None => info.zeroed.then_some(0),
        };
        let loc = self.cells.len() as LocId;
        self.cells.push((Location { object, offset }, width));
        self.init.push(init);
        let met = &mut self.objects[object.0 as usize].met;
        let at = met.partition_point(|c| c.0 < offset);
        met.insert(at, (offset, width, loc));
        Ok(loc)
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

    /// Its name, and where it was declared or made.
    pub fn describe(&self, object: ObjectId) -> Option<(&str, Span)> {
        self.objects.get(object.0 as usize).map(|info| (info.name.as_str(), info.span))
    }

    /// The thread that made it, and the operation.
    pub fn maker(&self, object: ObjectId) -> Option<(u16, u32)> {
        self.objects.get(object.0 as usize)?.maker.map(|(thread, site, _)| (thread, site))
    }

    /// How many objects that thread had made before.
    pub fn made_after(&self, object: ObjectId) -> u32 {
        self.objects.get(object.0 as usize).and_then(|info| info.maker).map_or(0, |(_, _, number)| number)
    }

    /// A cell for people.
    pub fn show(&self, loc: LocId) -> String {
        let (location, width) = self.location(loc);
        let info = &self.objects[location.object.0 as usize];
        if location.offset == 0 && info.size == width.bytes() {
            return info.name.clone();
        }
        let uniform =
            info.size.is_multiple_of(width.bytes()) && location.offset.is_multiple_of(width.bytes());
        let even = info.declared.iter().all(|c| c.1 == width);
        if uniform && even && !info.declared.is_empty() {
            return format!("{}[{}]", info.name, location.offset / width.bytes());
        }
        format!("{}+{}", info.name, location.offset)
    }

    /// All objects of a kind of storage.
    pub fn objects(&self, storage: Storage) -> impl Iterator<Item = ObjectId> + '_ {
        let all = self.objects.iter().enumerate();
        all.filter(move |(_, info)| info.storage == storage).map(|(i, _)| ObjectId(i as u32))
    }
}
