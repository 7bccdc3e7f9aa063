//! What the parts of objects are called: debug information, which changes nothing that a program does.
//!
//! An object is known by the place that made it: where it is declared, or the instruction that allocates it. Whatever a
//! program goes through before it is run, those places stay what they were. The text form leaves names out.

use crate::Width;
use crate::program::{Object, Program};
use crate::value::Value;
use fencepost_diag::Span;
use std::collections::BTreeMap;

/// A layout, by its number in [`Names`].
pub type ShapeId = usize;

/// How a piece of memory is made up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// One cell.
    Scalar(Scalar),
    /// Elements of one shape, each so many bytes after the other.
    Array {
        /// Of what.
        of: ShapeId,
        /// Size of an element in bytes.
        stride: u32,
    },
    /// A structure or a union.
    Record {
        /// Its tag; may be empty.
        name: String,
        /// Its members, by increasing offset.
        members: Vec<Member>,
    },
    /// A structure that is read and written as a whole: one cell of so many bytes.
    Whole {
        /// The structure.
        of: ShapeId,
        /// Its size in bytes; of 16 as [`crate::wide`] keeps them.
        size: u32,
    },
}

/// Where the way to a byte of an object ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// At a cell.
    Cell,
    /// At the first part that begins there.
    Part,
    /// At a structure of two words.
    Words,
}

/// How the value of a cell is to be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scalar {
    /// A signed number, or nothing is known about it.
    #[default]
    Signed,
    /// A number without a sign.
    Unsigned,
    /// `char`.
    Char,
    /// `true` or `false`.
    Bool,
    /// A pointer.
    Pointer,
    /// An enumeration, by its number in [`Names`].
    Enumeration(u32),
}

impl Scalar {
    /// A value that is no pointer and no function, in a cell of that width; of an enumeration its number.
    fn show(self, value: Value, width: Width) -> String {
        let signed = width.sign_extend(value).as_i64();
        match (self, width.zero_extend(value).0) {
            (Scalar::Bool, 0) => "false".into(),
            (Scalar::Bool, 1) => "true".into(),
            (Scalar::Pointer, 0) => "NULL".into(),
            (Scalar::Char, byte @ 0x21..0x7f) => format!("'{}'", byte as u8 as char),
            (Scalar::Unsigned | Scalar::Pointer, unsigned) => unsigned.to_string(),
            (Scalar::Signed | Scalar::Bool | Scalar::Char | Scalar::Enumeration(_), _) => signed.to_string(),
        }
    }
}

/// A member of a structure or a union.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    /// Its name; that of an anonymous one is empty.
    pub name: String,
    /// Where it begins.
    pub offset: u32,
    /// Its size in bytes; a flexible array member has all that could follow.
    pub size: u32,
    /// What it is.
    pub shape: ShapeId,
}

impl Member {
    fn covers(&self, offset: u32) -> bool {
        self.offset <= offset && offset - self.offset < self.size
    }
}

/// The shapes of a program's objects.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Names {
    shapes: Vec<Shape>,
    objects: BTreeMap<Span, ShapeId>,
    enumerations: Vec<Vec<(i64, String)>>,
}

impl Names {
    /// Adds a shape.
    pub fn add(&mut self, shape: Shape) -> ShapeId {
        self.shapes.push(shape);
        self.shapes.len() - 1
    }

    /// Adds an enumeration: its values and what they are called.
    pub fn add_enumeration(&mut self, enumerators: Vec<(i64, String)>) {
        self.enumerations.push(enumerators);
    }

    /// The value of a cell of that width at that byte of the object that was made there, if it is a number.
    pub fn show(&self, made: Span, offset: u32, width: Width, value: Value) -> String {
        self.show_as(self.scalar(made, offset), width, value)
    }

    /// A value that is no pointer and no function, as its type says.
    pub fn show_as(&self, scalar: Scalar, width: Width, value: Value) -> String {
        let enumerators = match scalar {
            Scalar::Enumeration(number) => self.enumerations.get(number as usize),
            _ => None,
        };
        let (signed, unsigned) = (width.sign_extend(value).as_i64(), width.zero_extend(value).0 as i64);
        let is_it = |(other, _): &&(i64, String)| *other == signed || *other == unsigned;
        let enumerator = enumerators.and_then(|all| all.iter().find(is_it));
        enumerator.map_or_else(|| scalar.show(value, width), |(_, name)| name.clone())
    }

    /// The members of the structure that is one cell at that byte of the object that was made there, with their values.
    pub fn members_of(
        &self,
        made: Span,
        (offset, width): (u32, Width),
        value: Value,
    ) -> Option<Vec<(String, Scalar, Width, Value)>> {
        let shape = self.single(*self.objects.get(&made)?, None);
        let (of, size) = self.whole_at(shape, offset, width)?;
        let words = if size == crate::wide::BYTES { crate::wide::halves(value) } else { [value.0; 2] };
        let mut found = Vec::new();
        for at in 0..size {
            let mut name = String::new();
            let Some(scalar) = self.scalar_in(of, at).filter(|_| self.walk(of, at, End::Cell, &mut name))
            else {
                continue;
            };
            let next = (at + 1..size).find(|next| self.scalar_in(of, *next).is_some()).unwrap_or(size);
            let widths = Width::ALL.into_iter().rev();
            let Some(width) = widths.into_iter().find(|w| w.bytes() <= next - at) else { continue };
            let word = words[(at / 8) as usize % 2] >> (8 * (at % 8));
            found.push((
                name.trim_start_matches('.').to_string(),
                scalar,
                width,
                width.zero_extend(Value(word)),
            ));
        }
        Some(found)
    }

    fn whole_at(&self, shape: ShapeId, offset: u32, width: Width) -> Option<(ShapeId, u32)> {
        match &self.shapes[shape] {
            Shape::Record { members, .. } if width == Width::W128 && self.are_words(members, offset) => {
                Some((shape, crate::wide::BYTES))
            }
            Shape::Whole { of, size } => (offset == 0).then_some((*of, *size)),
            Shape::Scalar(_) | Shape::Array { stride: 0, .. } => None,
            Shape::Array { of, stride } => self.whole_at(*of, offset % stride, width),
            Shape::Record { members, .. } => {
                let mut inside = members.iter().filter(|m| m.covers(offset));
                inside.find_map(|member| self.whole_at(member.shape, offset - member.offset, width))
            }
        }
    }

    /// Says what is declared, or allocated, at a place.
    pub fn declare(&mut self, at: Span, shape: ShapeId) {
        self.objects.insert(at, shape);
    }

    /// What a byte of the object that was made there is called, behind the name of the object: `.next`, `[1].seq`. An
    /// array of one element of that size has no index.
    pub fn part(&self, made: Span, size: u32, offset: u32) -> Option<String> {
        let shape = self.single(*self.objects.get(&made)?, Some(size));
        let mut out = String::new();
        self.walk(shape, offset, End::Cell, &mut out).then_some(out)
    }

    /// What a pointer to that byte points to: the largest part that begins there and is not the whole object, `[1]`,
    /// `.cells`.
    pub fn pointee(&self, made: Span, size: u32, offset: u32) -> Option<String> {
        let shape = self.single(*self.objects.get(&made)?, Some(size));
        let mut out = String::new();
        self.walk(shape, offset, End::Part, &mut out).then_some(out)
    }

    /// The one element of an array that has one: what is as large as the array, or ends with a flexible array member.
    fn single(&self, shape: ShapeId, size: Option<u32>) -> ShapeId {
        match self.shapes[shape] {
            Shape::Array { of, stride } if size == Some(stride) || self.is_flexible(of) => of,
            _ => shape,
        }
    }

    fn is_flexible(&self, shape: ShapeId) -> bool {
        match &self.shapes[shape] {
            Shape::Record { members, .. } => members.last().is_some_and(|m| m.size == u32::MAX - m.offset),
            _ => false,
        }
    }

    /// How to read the cell at that byte of the object that was made there.
    fn scalar(&self, made: Span, offset: u32) -> Scalar {
        let shape = self.objects.get(&made).map(|&shape| self.single(shape, None));
        shape.and_then(|shape| self.scalar_in(shape, offset)).unwrap_or_default()
    }

    fn scalar_in(&self, shape: ShapeId, offset: u32) -> Option<Scalar> {
        match &self.shapes[shape] {
            Shape::Scalar(scalar) => (offset == 0).then_some(*scalar),
            Shape::Whole { .. } | Shape::Array { stride: 0, .. } => None,
            Shape::Array { of, stride } => self.scalar_in(*of, offset % stride),
            Shape::Record { members, .. } => {
                let mut inside = members.iter().filter(|m| m.covers(offset));
                inside.find_map(|member| self.scalar_in(member.shape, offset - member.offset))
            }
        }
    }

    /// The tag of the structure that was made there, or of which an array was made.
    pub fn tag(&self, made: Span) -> Option<&str> {
        let mut shape = &self.shapes[*self.objects.get(&made)?];
        while let Shape::Array { of, .. } | Shape::Whole { of, .. } = shape {
            shape = &self.shapes[*of];
        }
        match shape {
            Shape::Record { name, .. } if !name.is_empty() => Some(name),
            _ => None,
        }
    }

    /// Whether a structure that begins there is two words, to an access to both.
    fn are_words(&self, members: &[Member], offset: u32) -> bool {
        let first = members.iter().find(|member| member.covers(0));
        offset == 0 && first.is_some_and(|first| matches!(self.shapes[first.shape], Shape::Scalar(_)))
    }

    /// The structure that is accessed as a whole at that byte of an object that was made there.
    pub fn words(&self, made: Span, size: u32, offset: u32) -> Option<String> {
        let shape = self.single(*self.objects.get(&made)?, Some(size));
        let mut out = String::new();
        self.walk(shape, offset, End::Words, &mut out).then_some(out)
    }

    /// Appends the way to a byte; whether there is one.
    fn walk(&self, shape: ShapeId, offset: u32, end: End, out: &mut String) -> bool {
        if end == End::Part && offset == 0 && !out.is_empty() {
            return true;
        }
        match &self.shapes[shape] {
            Shape::Scalar(_) | Shape::Whole { .. } => offset == 0,
            Shape::Array { stride: 0, .. } => false,
            Shape::Array { of, stride } => {
                *out += &format!("[{}]", offset / stride);
                self.walk(*of, offset % stride, end, out)
            }
            Shape::Record { members, .. } if end == End::Words && self.are_words(members, offset) => true,
            Shape::Record { members, .. } => {
                let length = out.len();
                members.iter().filter(|member| member.covers(offset)).any(|member| {
                    out.truncate(length);
                    if !member.name.is_empty() {
                        *out += &format!(".{}", member.name);
                    }
                    self.walk(member.shape, offset - member.offset, end, out)
                })
            }
        }
    }
}

impl Program {
    /// A value as a person reads it: a signed number, the name of what a pointer points to, or of a function.
    pub fn show_value(&self, value: Value) -> String {
        if value == Value::UNDEFINED {
            return "an undefined value".into();
        }
        if let Some(function) = value.as_function().and_then(|id| self.functions.get(id.0 as usize)) {
            return function.name.clone();
        }
        let Some((id, offset)) = value.as_pointer() else { return value.as_i64().to_string() };
        let Some(object) = self.objects.get(id.0 as usize) else { return format!("&{}+{offset}", id.0) };
        match self.names.pointee(object.span, object.size, offset) {
            Some(part) if offset > 0 => format!("{}{part}", object.name),
            _ => self.show_place(object, offset),
        }
    }

    /// The value of a cell as a person reads it: by the type that it was declared with.
    pub fn show_cell_value(&self, object: &Object, offset: u32, width: Width, value: Value) -> String {
        let one = |value: Value, number: &dyn Fn() -> String| {
            if value == Value::UNDEFINED || value.as_function().is_some() {
                return self.show_value(value);
            }
            let pointee =
                value.as_pointer().and_then(|(id, at)| Some((self.objects.get(id.0 as usize)?, at)));
            match pointee {
                Some((to, 0)) => format!("&{}", to.name),
                Some(_) => format!("&{}", self.show_value(value)),
                None => number(),
            }
        };
        let Some(members) = self.names.members_of(object.span, (offset, width), value) else {
            return one(value, &|| self.names.show(object.span, offset, width, value));
        };
        let member = |(name, scalar, width, value): &(String, Scalar, Width, Value)| {
            format!("{name} = {}", one(*value, &|| self.names.show_as(*scalar, *width, *value)))
        };
        format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
    }

    /// A cell of an object as a person reads it.
    pub fn show_place(&self, object: &Object, offset: u32) -> String {
        if offset == 0 && object.cells.len() <= 1 {
            return object.name.clone();
        }
        if let Some(part) = self.names.part(object.span, object.size, offset) {
            return format!("{}{part}", object.name);
        }
        match object.cells.iter().position(|c| c.offset == offset) {
            Some(0) => object.name.clone(),
            Some(index) => format!("{}[{index}]", object.name),
            None => format!("{}+{offset}", object.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `struct queue { int head; struct { int seq; int data; } cells[2]; union { int a; short b[2]; }; } q;`
    fn queue() -> (Names, Span) {
        let mut names = Names::default();
        let scalar = names.add(Shape::Scalar(Scalar::Signed));
        let member = |name: &str, offset, size, shape| Member { name: name.into(), offset, size, shape };
        let cell = names.add(Shape::Record {
            name: String::new(),
            members: vec![member("seq", 0, 4, scalar), member("data", 4, 4, scalar)],
        });
        let cells = names.add(Shape::Array { of: cell, stride: 8 });
        let shorts = names.add(Shape::Array { of: scalar, stride: 2 });
        let union = names.add(Shape::Record {
            name: String::new(),
            members: vec![member("a", 0, 4, scalar), member("b", 0, 4, shorts)],
        });
        let members =
            vec![member("head", 0, 4, scalar), member("cells", 4, 16, cells), member("", 20, 4, union)];
        let queue = names.add(Shape::Record { name: "queue".into(), members });
        let at = Span::new(3, 4);
        names.declare(at, queue);
        (names, at)
    }

    #[test]
    fn parts_have_the_names_of_the_source() {
        let (names, at) = queue();
        let part = |offset| names.part(at, 24, offset);
        assert_eq!(part(0).as_deref(), Some(".head"));
        assert_eq!(part(12).as_deref(), Some(".cells[1].seq"));
        assert_eq!(part(16).as_deref(), Some(".cells[1].data"));
        assert_eq!((part(20).as_deref(), part(22).as_deref()), (Some(".a"), Some(".b[1]")));
        assert_eq!((part(2), part(24)), (None, None), "nothing begins there");
        assert_eq!(names.part(Span::new(4, 5), 24, 0), None, "nothing is declared there");
        assert_eq!(names.tag(at), Some("queue"));
    }

    #[test]
    fn values_are_shown_by_their_type() {
        let minus_four = Value(0xffff_fffc);
        let show = |scalar: Scalar, value| scalar.show(value, Width::W32);
        assert_eq!(
            (show(Scalar::Signed, minus_four), show(Scalar::Unsigned, minus_four)),
            ("-4".into(), "4294967292".into())
        );
        assert_eq!(
            (show(Scalar::Bool, Value(1)), show(Scalar::Pointer, Value(0))),
            ("true".into(), "NULL".into())
        );
        assert_eq!(
            (show(Scalar::Char, Value(120)), show(Scalar::Char, Value(7))),
            ("'x'".into(), "7".into())
        );
    }

    /// `struct ring { long size; int buffer[]; }`, allocated with room for some.
    #[test]
    fn a_flexible_array_member_has_what_follows() {
        let mut names = Names::default();
        let [long, int] = [Scalar::Signed, Scalar::Unsigned].map(|scalar| names.add(Shape::Scalar(scalar)));
        let buffer = names.add(Shape::Array { of: int, stride: 4 });
        let member = |name: &str, offset, size, shape| Member { name: name.into(), offset, size, shape };
        let members = vec![member("size", 0, 8, long), member("buffer", 8, u32::MAX - 8, buffer)];
        let ring = names.add(Shape::Record { name: "ring".into(), members });
        let several = names.add(Shape::Array { of: ring, stride: 8 });
        let at = Span::new(1, 2);
        names.declare(at, several);
        assert_eq!(names.part(at, 24, 12).as_deref(), Some(".buffer[1]"));
        assert_eq!(names.scalar(at, 16), Scalar::Unsigned);
    }

    #[test]
    fn one_element_of_an_allocation_has_no_index() {
        let (mut names, declared) = queue();
        let queue = names.objects[&declared];
        let several = names.add(Shape::Array { of: queue, stride: 24 });
        let at = Span::new(9, 9);
        names.declare(at, several);
        assert_eq!(names.part(at, 24, 8).as_deref(), Some(".cells[0].data"));
        assert_eq!(names.part(at, 48, 32).as_deref(), Some("[1].cells[0].data"));
        assert_eq!(names.pointee(at, 48, 24).as_deref(), Some("[1]"));
        assert_eq!(names.pointee(at, 24, 4).as_deref(), Some(".cells"));
        assert_eq!(names.tag(at), Some("queue"));
    }
}
