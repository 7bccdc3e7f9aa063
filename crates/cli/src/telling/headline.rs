//! A finding of an execution in one line.

use fencepost_answer::trace::Object;
use fencepost_explore::{Finding, FindingKind, Place};
use fencepost_ir::{Instr, Program};

/// The name of an object as the engine has it.
pub fn quoted(object: &Object) -> String {
    format!("`{object}`")
}

/// What a finding says in one line; `named` says what an object is called, in quotes if that is a name.
pub fn headline(program: &Program, finding: &Finding, named: &dyn Fn(&Object) -> String) -> String {
    let object = finding.object.as_ref().map_or("`the object`".into(), named);
    let instr = |place: &Place| {
        program.functions.get(place.at.0 as usize).and_then(|f| f.body.get(place.at.1 as usize))
    };
    let message = |place: &Place| match instr(place) {
        Some(Instr::Assert { message, .. } | Instr::Fail { message, .. }) => Some(message.clone()),
        _ => None,
    };
    let own = finding.places.first().and_then(message);
    match finding.kind {
        FindingKind::Assertion => own.unwrap_or_else(|| "this assertion fails".into()),
        FindingKind::Misuse => {
            let default = match finding.places.first().and_then(instr) {
                Some(Instr::Lock(_)) => "a mutex is locked that was destroyed",
                Some(Instr::Join { .. }) => {
                    "a thread is joined that does not exist, or that was joined or detached before"
                }
                _ => "a mutex is unlocked by a thread that does not hold it",
            };
            own.unwrap_or_else(|| default.into())
        }
        FindingKind::Unsupported => own.unwrap_or_else(|| {
            match finding.places.first().and_then(instr) {
                Some(Instr::Call { .. }) | None => "the calls are nested too deeply",
                Some(Instr::CopyLoad { .. } | Instr::Load { .. } | Instr::Store { .. }) => {
                    "memory of which only some bytes have a value is accessed with another size"
                }
                Some(_) => "one thread accesses an object atomically and by different sizes",
            }
            .into()
        }),
        FindingKind::OutsideSection => {
            format!("{object} is accessed in an atomic section and outside of sections at the same time")
        }
        FindingKind::DataRace => format!("data race on {object}"),
        FindingKind::UseAfterFree => format!("{object} is used although it may have been freed"),
        FindingKind::UseAfterScope => format!("{object} is used although it may be out of scope"),
        FindingKind::DoubleFree => format!("{object} is freed twice"),
        FindingKind::Uninitialised if finding.object.is_none() => {
            "a value is used that was copied from uninitialised memory".into()
        }
        FindingKind::Uninitialised => format!("{object} is read before it is written"),
        FindingKind::UseBeforeAllocation => {
            format!("{object} is used although it need not have been allocated yet")
        }
        FindingKind::Leak => format!("{object} is never freed"),
        kind => kind.message().into(),
    }
}
