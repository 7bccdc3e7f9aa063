//! What the parts of objects are called: debug information, which changes nothing that a program does.
//!
//! An object is known by the place that made it: where it is declared, or the instruction that allocates it. Whatever a
//! program goes through before it is run, those places stay what they were. The text form leaves names out.

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
    Scalar,
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
}

/// A member of a structure or a union.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    /// Its name; that of an anonymous one is empty.
    pub name: String,
    /// Where it begins.
    pub offset: u32,
    /// Its size in bytes.
    pub size: u32,
    /// What it is.
    pub shape: ShapeId,
}

/// The shapes of a program's objects.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Names {
    shapes: Vec<Shape>,
    objects: BTreeMap<Span, ShapeId>,
}

impl Names {
    /// Adds a shape.
    pub fn add(&mut self, shape: Shape) -> ShapeId {
        self.shapes.push(shape);
        self.shapes.len() - 1
    }

    /// Says what is declared, or allocated, at a place.
    pub fn declare(&mut self, at: Span, shape: ShapeId) {
        self.objects.insert(at, shape);
    }

    /// What a byte of the object that was made there is called, behind the name of the object: `.next`, `[1].seq`. An
    /// array of one element of that size has no index.
    pub fn part(&self, made: Span, size: u32, offset: u32) -> Option<String> {
        let mut shape = *self.objects.get(&made)?;
        let mut out = String::new();
        if let Shape::Array { of, stride } = self.shapes[shape]
            && stride == size
        {
            shape = of;
        }
        self.walk(shape, offset, false, &mut out).then_some(out)
    }

    /// What a pointer to that byte points to: the largest part that begins there and is not the whole object, `[1]`,
    /// `.cells`.
    pub fn pointee(&self, made: Span, size: u32, offset: u32) -> Option<String> {
        let mut shape = *self.objects.get(&made)?;
        let mut out = String::new();
        if let Shape::Array { of, stride } = self.shapes[shape]
            && stride == size
        {
            shape = of;
        }
        self.walk(shape, offset, true, &mut out).then_some(out)
    }

    /// The tag of the structure that was made there, or of which an array was made.
    pub fn tag(&self, made: Span) -> Option<&str> {
        let mut shape = &self.shapes[*self.objects.get(&made)?];
        while let Shape::Array { of, .. } = shape {
            shape = &self.shapes[*of];
        }
        match shape {
            Shape::Record { name, .. } if !name.is_empty() => Some(name),
            _ => None,
        }
    }

    /// Appends the way to a byte; whether there is one. `early`: it ends with the first part that begins there.
    fn walk(&self, shape: ShapeId, offset: u32, early: bool, out: &mut String) -> bool {
        if early && offset == 0 && !out.is_empty() {
            return true;
        }
        match &self.shapes[shape] {
            Shape::Scalar => offset == 0,
            Shape::Array { stride: 0, .. } => false,
            Shape::Array { of, stride } => {
                *out += &format!("[{}]", offset / stride);
                self.walk(*of, offset % stride, early, out)
            }
            Shape::Record { members, .. } => {
                let length = out.len();
                let inside = |m: &&Member| m.offset <= offset && offset - m.offset < m.size;
                members.iter().filter(inside).any(|member| {
                    out.truncate(length);
                    if !member.name.is_empty() {
                        *out += &format!(".{}", member.name);
                    }
                    self.walk(member.shape, offset - member.offset, early, out)
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
        let scalar = names.add(Shape::Scalar);
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
