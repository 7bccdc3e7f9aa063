//! Text of executions: events, one per line, and the relations as lists of pairs.

use super::parser::{Kind, Parser, Text, print_field};
use crate::execution::{Event, EventKind, Execution, Location};
use crate::relation::Relation;
use fencepost_diag::{Diagnostic, Span};

impl Text for Location {
    fn print(&self, out: &mut String) {
        self.object.print(out);
        out.push('+');
        self.offset.print(out);
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        let object = Text::parse(parser)?;
        parser.sign("+")?;
        Ok(Location { object, offset: parser.int()? })
    }
}

impl Text for EventKind {
    fn print(&self, out: &mut String) {
        match self {
            EventKind::Read => out.push_str("read"),
            EventKind::Write => out.push_str("write"),
            EventKind::Fence(fence) => {
                out.push_str("fence ");
                fence.print(out);
            }
        }
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        if parser.eat_word("read") {
            Ok(EventKind::Read)
        } else if parser.eat_word("write") {
            Ok(EventKind::Write)
        } else if parser.eat_word("fence") {
            Text::parse(parser).map(EventKind::Fence)
        } else {
            Err(parser.expected("`read`, `write` or `fence`"))
        }
    }
}

impl Text for Event {
    fn print(&self, out: &mut String) {
        self.kind.print(out);
        print_field(out, "thread", &self.thread);
        print_field(out, "at", &self.location);
        print_field(out, "width", &self.width);
        print_field(out, "value", &self.value);
        print_field(out, "ann", &self.ann);
        print_field(out, "amo", &self.amo);
        self.span.print(out);
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        Ok(Event {
            kind: Text::parse(parser)?,
            thread: parser.field("thread")?,
            location: parser.field("at")?,
            width: parser.field("width")?,
            value: parser.field("value")?,
            ann: parser.field("ann")?,
            amo: parser.field("amo")?,
            span: Span::parse(parser)?,
        })
    }
}

/// The relations of an execution by name.
type Named = (&'static str, fn(&mut Execution) -> &mut Relation);
const RELATIONS: [Named; 10] = [
    ("po", |e| &mut e.po),
    ("rf", |e| &mut e.rf),
    ("co", |e| &mut e.co),
    ("rmw", |e| &mut e.rmw),
    ("amo", |e| &mut e.amo),
    ("addr", |e| &mut e.addr),
    ("data", |e| &mut e.data),
    ("ctrl", |e| &mut e.ctrl),
    ("pick", |e| &mut e.pick),
    ("pick_addr", |e| &mut e.pick_addr),
];

impl Text for Execution {
    fn print(&self, out: &mut String) {
        out.push_str("execution {\n");
        for (i, event) in self.events.iter().enumerate() {
            out.push_str(&format!("  :{i} "));
            event.print(out);
            out.push('\n');
        }
        out.push_str("}\n");
        let mut copy = self.clone();
        for (name, relation) in RELATIONS {
            let pairs: Vec<String> = relation(&mut copy).pairs().map(|(a, b)| format!("{a}->{b}")).collect();
            out.push_str(&format!("{name} {{{}}}\n", pairs.join(", ")));
        }
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        parser.word("execution")?;
        parser.sign("{")?;
        let mut events = Vec::new();
        while !parser.eat_sign("}") {
            if parser.eat_sign(":") {
                parser.int::<u32>()?;
            }
            events.push(Event::parse(parser)?);
        }
        // An execution stands without its program, so threads and objects cannot be checked here.
        parser.check(Kind::Thread, usize::MAX, "thread")?;
        parser.check(Kind::Object, usize::MAX, "object")?;
        let mut execution = Execution::new(events);
        for (name, relation) in RELATIONS {
            parser.word(name)?;
            parse_pairs(parser, relation(&mut execution))?;
        }
        Ok(execution)
    }
}

fn parse_pairs(parser: &mut Parser, relation: &mut Relation) -> Result<(), Box<Diagnostic>> {
    parser.sign("{")?;
    let mut first = true;
    while !parser.eat_sign("}") {
        if !first {
            parser.sign(",")?;
        }
        first = false;
        let a = event_index(parser, relation.len())?;
        parser.sign("->")?;
        let b = event_index(parser, relation.len())?;
        relation.insert(a, b);
    }
    Ok(())
}

fn event_index(parser: &mut Parser, length: usize) -> Result<usize, Box<Diagnostic>> {
    let span = parser.span();
    let index: usize = parser.int()?;
    if index >= length {
        return Err(Box::new(
            Diagnostic::error(span, "there is no such event")
                .label(format!("there are {length}, numbered from 0")),
        ));
    }
    Ok(index)
}
