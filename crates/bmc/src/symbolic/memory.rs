//! Objects and cells of the unrolled program, and which of them an address names.

use super::shapes::{Key, Seen};
use super::{CellId, CellInfo, ObjectInfo};
use crate::aig::{Graph, Lit};
use crate::shape::Shape;
use crate::word::Word;
use fencepost_ir::{Object, ObjectId, Program, Value, Width};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Largest object of a size that is known only when the program runs, in bytes.
const LARGEST: u64 = (1 << 16) - 1;

/// What an object is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Global,
    Local,
    Heap {
        zeroed: bool,
    },
    /// Not memory of the program: a flag of ours.
    Flag,
}

/// An object that a thread makes, as far as it is known before the thread is unrolled.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Template {
    kind: Kind,
    /// The declaration of a local object.
    declared: Option<Object>,
    /// The size if it is a number, else the most that it can be.
    size: Result<u64, u64>,
    /// It may end before the program does, and there is a flag that says so.
    ends: bool,
    /// Only its thread can reach it.
    private: bool,
}

/// What threads made in the passes so far. Threads are unrolled in the order of their starts, and one that is unrolled early may
/// use what a
/// later one makes: so a pass begins with the objects of the pass before, under the same numbers.
#[derive(Clone, Default, Debug)]
pub(super) struct Made {
    objects: Vec<((u32, u32), Template)>,
    index: FxHashMap<(u32, u32), usize>,
}

impl Made {
    /// Adds what a pass made. False if threads before its maker did not know of it: the pass has to be done again.
    pub fn learn(&mut self, made: Vec<((u32, u32), Template)>) -> bool {
        let mut same = true;
        for (name, template) in made {
            let by_first = name.0 == 0;
            match self.index.get(&name) {
                Some(&at) if self.objects[at].1 == template => {}
                Some(&at) => {
                    self.objects[at].1 = template;
                    same = false;
                }
                None => {
                    self.index.insert(name, self.objects.len());
                    self.objects.push((name, template));
                    same &= by_first;
                }
            }
        }
        same
    }
}

/// An object with its cells.
#[derive(Clone, Debug)]
struct Place {
    kind: Kind,
    /// Cells by offset.
    cells: BTreeMap<u32, (Width, CellId)>,
    /// Thread and number of an object that was made while the program runs.
    made: Option<(u32, u32)>,
    /// 1 while it may be used.
    alive: Option<CellId>,
    largest: u64,
}

/// The cells that an address may name.
#[derive(Clone, Debug, Default)]
pub(super) struct Resolved {
    /// The cells and their conditions, which exclude each other.
    pub cells: Vec<(CellId, Lit)>,
    /// It names none.
    pub bad: Lit0,
    /// It names a place where cells of another width are; only in memory without declared cells.
    pub mixed: Lit0,
    /// The flags "alive" of the objects, with the same conditions.
    pub alive: Vec<(CellId, Lit)>,
}

/// A literal that is false unless set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lit0(pub Lit);

impl Default for Lit0 {
    fn default() -> Lit0 {
        Lit0(Lit::FALSE)
    }
}

/// All memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    pub objects: Vec<ObjectInfo>,
    places: Vec<Place>,
    pub cells: Vec<CellInfo>,
    /// What this pass saw of each cell, by its number.
    pub seen: Vec<(Key, Seen)>,
    /// What this pass made.
    pub made: Vec<((u32, u32), Template)>,
    /// Objects of the pass before that this one has not made yet.
    waiting: FxHashMap<(u32, u32), (u32, Template)>,
}

impl Memory {
    /// The global objects, and what threads will make; an error names one whose cells overlap.
    pub fn new(program: &Program, made: &Made, graph: &mut Graph) -> Result<Memory, u32> {
        let mut memory = Memory::default();
        for (number, object) in (0u32..).zip(&program.objects) {
            memory.declare(object, Kind::Global, None, Some(number)).ok_or(number)?;
        }
        for (name, template) in &made.objects {
            let number = memory.add(*name, template, None, graph).ok_or(0u32)?;
            memory.waiting.insert(*name, (number, template.clone()));
        }
        Ok(memory)
    }

    /// An object that a thread makes, with its flag; without a size, one that is to be known later.
    fn add(
        &mut self,
        name: (u32, u32),
        template: &Template,
        size: Option<Word>,
        graph: &mut Graph,
    ) -> Option<u32> {
        let number = match &template.declared {
            Some(object) => self.declare(object, template.kind, Some(name), None)?,
            None => {
                let (Ok(largest) | Err(largest)) = template.size;
                let size = size.unwrap_or_else(|| match template.size {
                    Ok(known) => Word::constant(Value(known)),
                    Err(_) => Shape::Bits { len: 16, signed: false }.input(graph),
                });
                let info = ObjectInfo {
                    name: "allocated".into(),
                    size,
                    declared: None,
                    made: Some(name),
                    born: None,
                    private: false,
                    heap: true,
                    constant: false,
                };
                self.push(info, template.kind, Some(name), largest)
            }
        };
        self.objects[number as usize].private = template.private;
        if template.ends {
            self.add_alive(number);
        }
        Some(number)
    }

    /// An object that the running thread makes now: the one that was waiting for it, if it is the same.
    fn make(
        &mut self,
        name: (u32, u32),
        template: Template,
        size: Option<Word>,
        graph: &mut Graph,
    ) -> Option<u32> {
        self.made.push((name, template.clone()));
        match self.waiting.remove(&name) {
            Some((number, expected)) if expected == template => {
                // Nobody is unrolled before the first thread.
                if let (0, Some(size)) = (name.0, size) {
                    self.objects[number as usize].size = size;
                }
                Some(number)
            }
            _ => self.add(name, &template, size, graph),
        }
    }

    /// A local object of the running thread; nothing if its cells overlap.
    pub fn make_local(
        &mut self,
        graph: &mut Graph,
        object: &Object,
        name: (u32, u32),
        (ends, private): (bool, bool),
    ) -> Option<u32> {
        let size = Ok(u64::from(object.size));
        let template = Template { kind: Kind::Local, declared: Some(object.clone()), size, ends, private };
        self.make(name, template, None, graph)
    }

    fn push(&mut self, info: ObjectInfo, kind: Kind, made: Option<(u32, u32)>, largest: u64) -> u32 {
        self.objects.push(info);
        self.places.push(Place { kind, cells: BTreeMap::new(), made, alive: None, largest });
        self.objects.len() as u32 - 1
    }

    /// An object with declared cells; nothing if they overlap.
    pub fn declare(
        &mut self,
        object: &Object,
        kind: Kind,
        made: Option<(u32, u32)>,
        declared: Option<u32>,
    ) -> Option<u32> {
        let size = Word::constant(Value(u64::from(object.size)));
        let info = ObjectInfo {
            name: object.name.clone(),
            size,
            declared,
            made,
            born: None,
            private: false,
            heap: false,
            constant: object.constant,
        };
        let number = self.push(info, kind, made, u64::from(object.size));
        let mut end = 0;
        for cell in &object.cells {
            if cell.offset < end {
                return None;
            }
            end = cell.offset + cell.width.bytes();
            let initial = cell.init.map(|value| Word::constant(cell.width.zero_extend(value)));
            self.add_cell(number, cell.offset, cell.width, initial);
        }
        Some(number)
    }

    /// An object from the heap, and the size that threads before its maker took it to have.
    pub fn allocate(
        &mut self,
        graph: &mut Graph,
        size: Word,
        zeroed: bool,
        name: (u32, u32),
        ends: bool,
    ) -> Option<(u32, Word)> {
        let most = |word: &Word| match word.values() {
            Some(values) => values.iter().copied().max(),
            None if word.fill() == Lit::FALSE && word.len() < 63 => Some((1 << word.len()) - 1),
            None => None,
        };
        // A size beyond is a fault of its own: see `too_large`.
        let known = match size.as_constant() {
            Some(size) => Ok(size.0.min(LARGEST)),
            None => Err(most(&size).unwrap_or(u64::MAX).min(LARGEST)),
        };
        let template =
            Template { kind: Kind::Heap { zeroed }, declared: None, size: known, ends, private: false };
        let number = self.make(name, template, Some(size), graph)?;
        Some((number, self.objects[number as usize].size.clone()))
    }

    /// True where the size of an object is more than is followed.
    pub fn too_large(graph: &mut Graph, size: &Word) -> Lit {
        let bits: Vec<Lit> = (16..=64).map(|i| size.bit(i)).collect();
        graph.or_all(&bits)
    }

    /// The flag that says whether an object may be used; as private as that.
    fn add_alive(&mut self, object: u32) -> CellId {
        let (thread, made) = self.places[object as usize].made.unwrap_or((u32::MAX, object));
        let info = ObjectInfo {
            name: "alive".into(),
            size: Word::constant(Value(1)),
            declared: None,
            made: None,
            born: None,
            private: false,
            heap: false,
            constant: false,
        };
        let flag = self.push(info, Kind::Flag, None, 1);
        self.objects[flag as usize].private = self.objects[object as usize].private;
        let initial = Some(Word::constant(Value(1)));
        let cell = self.new_cell(flag, 0, Width::W8, initial, Key::Alive { thread, made });
        self.places[object as usize].alive = Some(cell);
        cell
    }

    /// Whether a cell is the flag of a life.
    pub fn is_flag(&self, cell: CellId) -> bool {
        self.places[self.cells[cell.0 as usize].object as usize].kind == Kind::Flag
    }

    fn add_cell(&mut self, object: u32, offset: u32, width: Width, initial: Option<Word>) -> CellId {
        let place = &self.places[object as usize];
        let key = match place.made {
            Some((thread, made)) => Key::Made { thread, made, offset },
            None => Key::Global { object, offset },
        };
        let cell = self.new_cell(object, offset, width, initial, key);
        self.places[object as usize].cells.insert(offset, (width, cell));
        cell
    }

    fn new_cell(
        &mut self,
        object: u32,
        offset: u32,
        width: Width,
        initial: Option<Word>,
        key: Key,
    ) -> CellId {
        self.seen.push((key, Seen::new(initial.as_ref(), width)));
        self.cells.push(CellInfo { object, offset, width, initial, shared: false, last: None });
        CellId(self.cells.len() as u32 - 1)
    }

    /// The objects that an address may point into, with the part of the address that says so.
    fn candidates(&self, address: &Word) -> Vec<u32> {
        let all = 0..self.objects.len() as u32;
        if let Some(values) = address.values() {
            let mut objects: Vec<u32> =
                values.iter().filter_map(|&v| Value(v).as_pointer()).map(|(object, _)| object.0).collect();
            objects.sort_unstable();
            objects.dedup();
            objects.retain(|object| all.contains(object));
            return objects;
        }
        let (mask, ones) = address.known_bits();
        let high = |object: u32| Value::pointer(ObjectId(object), 0).0 & mask & !0xffff_ffff;
        all.filter(|&object| high(object) == ones & !0xffff_ffff).collect()
    }

    /// True if the value is possible for the word as far as constant bits and known values tell.
    fn possible(address: &Word, known: (u64, u64), value: u64) -> bool {
        value & known.0 == known.1 && address.values().is_none_or(|values| values.contains(&value))
    }

    /// The cells that an access of that width at that address may touch.
    pub fn resolve(&mut self, graph: &mut Graph, address: &Word, width: Width) -> Resolved {
        let known = address.known_bits();
        let mut resolved = Resolved::default();
        let mut mixed = Vec::new();
        for object in self.candidates(address) {
            if self.places[object as usize].kind == Kind::Flag {
                continue;
            }
            if let Kind::Heap { zeroed } = self.places[object as usize].kind {
                self.make_cells(object, zeroed, address, known, width, graph, &mut mixed);
            }
            let size = self.objects[object as usize].size.clone();
            let cells: Vec<(u32, CellId)> = self.places[object as usize]
                .cells
                .iter()
                .filter(|(_, (of, _))| *of == width)
                .map(|(offset, (_, cell))| (*offset, *cell))
                .collect();
            for (offset, cell) in cells {
                let value = Value::pointer(ObjectId(object), offset);
                if !Memory::possible(address, known, value.0) {
                    continue;
                }
                let named = address.is(graph, value);
                let fits = fits(graph, &size, offset, width);
                let chosen = graph.and(named, fits);
                if chosen != Lit::FALSE {
                    resolved.cells.push((cell, chosen));
                    if let Some(alive) = self.places[object as usize].alive {
                        resolved.alive.push((alive, chosen));
                    }
                }
            }
        }
        let chosen: Vec<Lit> = resolved.cells.iter().map(|(_, lit)| *lit).collect();
        let mixed = graph.or_all(&mixed);
        let good = graph.or_all(&chosen);
        resolved.mixed = Lit0(mixed);
        resolved.bad = Lit0(graph.and(!good, !mixed));
        // Several cells of one object have one flag.
        resolved.alive = merge_conditions(graph, std::mem::take(&mut resolved.alive));
        resolved
    }

    /// Memory from the heap has the cells that are accessed: makes those that this access may touch.
    #[allow(clippy::too_many_arguments)]
    fn make_cells(
        &mut self,
        object: u32,
        zeroed: bool,
        address: &Word,
        known: (u64, u64),
        width: Width,
        graph: &mut Graph,
        mixed: &mut Vec<Lit>,
    ) {
        let bytes = width.bytes();
        let largest = self.places[object as usize].largest;
        let Some(last) = largest.checked_sub(u64::from(bytes)) else { return };
        let step = if address.as_constant().is_some() || address.values().is_some() { 1 } else { bytes };
        for offset in (0..=last as u32).step_by(step as usize) {
            let value = Value::pointer(ObjectId(object), offset).0;
            if !Memory::possible(address, known, value) {
                continue;
            }
            let cells = &self.places[object as usize].cells;
            if cells.get(&offset).is_some_and(|(of, _)| *of == width) {
                continue;
            }
            let before = cells.range(..offset).next_back();
            let overlaps = before.is_some_and(|(at, (of, _))| at + of.bytes() > offset)
                || cells.range(offset..offset + bytes).next().is_some();
            if overlaps {
                mixed.push(address.is(graph, Value(value)));
            } else {
                let initial = zeroed.then(|| Word::constant(Value::ZERO));
                self.add_cell(object, offset, width, initial);
            }
        }
    }

    /// The objects whose first byte the address may name, with conditions, that were made while the program runs.
    pub fn made_objects(&self, graph: &mut Graph, address: &Word) -> Vec<(u32, Kind, Option<CellId>, Lit)> {
        let mut found = Vec::new();
        for object in self.candidates(address) {
            let place = &self.places[object as usize];
            let named = address.is(graph, Value::pointer(ObjectId(object), 0));
            if named != Lit::FALSE && matches!(place.kind, Kind::Heap { .. } | Kind::Local) {
                found.push((object, place.kind, place.alive, named));
            }
        }
        found
    }

    /// The size of the object that an address points into, and where it points into none.
    pub fn size_of(&self, graph: &mut Graph, address: &Word) -> (Word, Lit) {
        let mut size = Word::constant(Value::ZERO);
        let mut named = vec![address.is(graph, Value::ZERO)];
        for object in self.candidates(address) {
            let base = Word::constant(Value::pointer(ObjectId(object), 0));
            let pairs: Vec<(Lit, Lit)> = (32..64).map(|i| (address.bit(i), base.bit(i))).collect();
            let bits: Vec<Lit> = pairs.into_iter().map(|(a, b)| graph.xnor(a, b)).collect();
            let this = graph.and_all(&bits);
            size = Word::mux(graph, this, &self.objects[object as usize].size.clone(), &size);
            named.push(this);
        }
        let known = graph.or_all(&named);
        (size, !known)
    }
}

/// True where an access of that width at that offset is within the size.
fn fits(graph: &mut Graph, size: &Word, offset: u32, width: Width) -> Lit {
    let end = u64::from(offset) + u64::from(width.bytes());
    if let Some(size) = size.as_constant() {
        return Lit::constant(end <= size.0);
    }
    let end = Word::constant(Value(end));
    let le = fencepost_ir::BinaryOp::LeU;
    let extend = fencepost_ir::Extend::Zero;
    match crate::arithmetic::binary(graph, le, Width::W64, extend, &end, size) {
        Ok(computed) => computed.word.bit(0),
        Err(_) => Lit::FALSE,
    }
}

/// One entry for each cell.
pub(super) fn merge_conditions(graph: &mut Graph, mut list: Vec<(CellId, Lit)>) -> Vec<(CellId, Lit)> {
    list.sort_unstable();
    let mut out: Vec<(CellId, Lit)> = Vec::new();
    for (cell, lit) in list {
        match out.last_mut() {
            Some((last, condition)) if *last == cell => *condition = graph.or(*condition, lit),
            _ => out.push((cell, lit)),
        }
    }
    out
}
