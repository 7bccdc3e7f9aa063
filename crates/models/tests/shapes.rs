//! The classical litmus shapes, written as executions, with the verdict of each model.
//!
//! An execution is written as threads separated by `|`; `Wx1` writes 1 to x, `Rx1.acq` reads 1 from x with an order,
//! other words are fences. `<addr0` after an event is a dependency on event 0 of its thread; `ctrl` reaches everything
//! that follows. Values are unique per location, so a value gives `rf`; coherence is the order of the values.

use fencepost_ir::{
    Ann, Event, EventKind, Execution, Fence, Location, ObjectId, Order, Relation, Span, ThreadId, Value,
    Width,
};
use fencepost_models::Model;

fn event(thread: Option<u32>, word: &str) -> Event {
    let (kind, location, value, ann) = match Fence::ALL.iter().find(|f| f.name() == word) {
        Some(&fence) => (EventKind::Fence(fence), None, 0, Ann::PLAIN),
        None => {
            let kind = if word.starts_with('W') { EventKind::Write } else { EventKind::Read };
            let object = ObjectId(u32::from(word.as_bytes()[1]));
            let (value, order) = word[2..].split_once('.').unwrap_or((&word[2..], "plain"));
            let order = Order::ALL.into_iter().find(|o| o.name() == order).expect("an order");
            let value = value.parse().expect("a value");
            (kind, Some(Location { object, offset: 0 }), value, Ann::order(order))
        }
    };
    let (thread, value, width) = (thread.map(ThreadId), Value(value), Width::W32);
    Event { thread, kind, location, width, value, ann, amo: false, span: Span::default() }
}

fn execution(text: &str) -> Execution {
    let mut events = Vec::new();
    let mut locations: Vec<&str> =
        text.split_whitespace().filter(|w| w.starts_with(['W', 'R'])).map(|w| &w[1..2]).collect();
    locations.sort();
    locations.dedup();
    locations.iter().for_each(|l| events.push(event(None, &format!("W{l}0"))));
    let mut dependencies = Vec::new();
    for (thread, words) in text.split('|').enumerate() {
        let first = events.len();
        for word in words.split_whitespace() {
            let mut parts = word.split('<');
            let target = events.len();
            events.push(event(Some(thread as u32), parts.next().unwrap_or("")));
            for dependency in parts {
                let (kind, source) = dependency.split_at(dependency.len() - 1);
                dependencies.push((kind, first + source.parse::<usize>().expect("an index"), target));
            }
        }
    }
    let mut x = Execution::new(events);
    let n = x.events.len();
    let same = |a: &Event, b: &Event| a.location.is_some() && a.location == b.location;
    let e = x.events.clone();
    x.po = Relation::from_fn(n, |a, b| a < b && e[a].thread.is_some() && e[a].thread == e[b].thread);
    x.rf = Relation::from_fn(n, |a, b| {
        let kinds = e[a].kind == EventKind::Write && e[b].kind == EventKind::Read;
        kinds && same(&e[a], &e[b]) && e[a].value == e[b].value
    });
    x.co = Relation::from_fn(n, |a, b| {
        let kinds = e[a].kind == EventKind::Write && e[b].kind == EventKind::Write;
        kinds && same(&e[a], &e[b]) && e[a].value < e[b].value
    });
    for (kind, a, b) in dependencies {
        match kind {
            "addr" => x.addr.insert(a, b),
            "data" => x.data.insert(a, b),
            "pick" => x.pick.insert(a, b),
            "amo" => {
                x.rmw.insert(a, b);
                x.amo.insert(a, b);
            }
            "rmw" => x.rmw.insert(a, b),
            "ctrl" => (b..n).filter(|&c| e[c].thread == e[b].thread).for_each(|c| x.ctrl.insert(a, c)),
            other => panic!("unknown dependency {other}"),
        }
    }
    x
}

/// Checks the models that allow the execution among those listed.
#[track_caller]
fn check(text: &str, allowed: &str, forbidden: &str) {
    let x = execution(text);
    for name in allowed.split_whitespace() {
        let judgement = Model::builtin(name).expect("a model").check(&x);
        assert!(judgement.consistent, "{name} must allow {text}: {:?} failed", judgement.failed);
    }
    for name in forbidden.split_whitespace() {
        let judgement = Model::builtin(name).expect("a model").check(&x);
        assert!(!judgement.consistent, "{name} must forbid {text}");
    }
}

#[test]
fn store_buffering() {
    check("Wx1 Ry0 | Wy1 Rx0", "tso pso power armv8 rc11 ra", "sc");
    for fence in ["sync", "mfence", "dmb.sy", "dsb.sy", "c11.sc"] {
        let text = format!("Wx1.rlx {fence} Ry0.rlx | Wy1.rlx {fence} Rx0.rlx");
        check(&text, "", "sc tso pso power armv8 rc11 ra");
    }
    check("Wx1 lwsync Ry0 | Wy1 lwsync Rx0", "tso pso power", "sc armv8");
    check("Wx1.rel Ry0.acq | Wy1.rel Rx0.acq", "rc11 ra tso pso", "sc armv8");
    check("Wx1.rel Ry0.acqpc | Wy1.rel Rx0.acqpc", "armv8", "sc");
    check("Wx1.sc Ry0.sc | Wy1.sc Rx0.sc", "ra", "sc rc11 armv8");
}

#[test]
fn message_passing() {
    check("Wx1.rlx Wy1.rlx | Ry1.rlx Rx0.rlx", "pso power armv8 rc11", "sc tso ra");
    check("Wx1.rlx Wy1.rel | Ry1.acq Rx0.rlx", "", "sc tso rc11 ra armv8");
    check("Wx1.rlx Wy1.rel | Ry1.con Rx0.rlx", "", "rc11");
    for fence in ["sfence", "eieio", "dmb.st", "dsb.st", "lwsync", "mfence"] {
        check(&format!("Wx1 {fence} Wy1 | Ry1 Rx0"), "power armv8", "pso tso sc");
        check(&format!("Wx1 {fence} Wy1 | Ry1 Rx0<addr0"), "", "pso tso sc power armv8");
    }
    check("Wx1 lwsync Wy1 | Ry1 Rx0<ctrl0", "power armv8", "");
    check("Wx1 lwsync Wy1 | Ry1 isync<ctrl0 Rx0", "", "power armv8");
    check("Wx1 lwsync Wy1 | Ry1 isync Rx0", "power armv8", "");
    check("Wx1 dmb.st Wy1 | Ry1 dmb.ld Rx0", "", "power armv8");
    check("Wx1 Wy1 | Ry1 Rx0<addr0", "power armv8 pso", "tso");
    check("Wx1.rlx c11.rel Wy1.rlx | Ry1.rlx c11.acq Rx0.rlx", "", "rc11 ra power armv8");
    check("Wx1.rlx c11.acq Wy1.rlx | Ry1.rlx c11.acq Rx0.rlx", "rc11", "");
    check("Wx1 dmb.sy Wy1.rel | Ry1.acqpc Rx0", "", "armv8");
}

#[test]
fn load_buffering() {
    check("Rx1.rlx Wy1.rlx | Ry1.rlx Wx1.rlx", "power armv8", "sc tso pso rc11 ra");
    check("Rx1 Wy1<data0 | Ry1 Wx1<data0", "", "power armv8");
    check("Rx1 Wy1<ctrl0 | Ry1 Wx1<addr0", "", "power armv8");
    check("Rx1 Wy1<data0 | Ry1 Wx1", "power armv8", "");
    check("Rx1 Wy1<pick0 | Ry1 Wx1<data0", "power", "armv8");
    check("Rx1 Rz0<addr0 Wy1 | Ry1 Wx1<data0", "", "power armv8");
    check("Rx1.acq Wy1 | Ry1 Wx1.rel", "power", "armv8");
}

#[test]
fn write_shapes() {
    check("Wx2 Wy1 | Ry1 Wx1", "pso power armv8", "sc tso");
    check("Wx2 lwsync Wy1 | Ry1 Wx1<data0", "", "sc tso pso power armv8");
    check("Wx1 Wy1 | Wy2 Rx0", "tso pso power armv8", "sc");
    check("Wx1 lwsync Wy1 | Wy2 sync Rx0", "power", "sc tso pso armv8");
    check("Wx1 sync Wy1 | Wy2 sync Rx0", "", "sc tso pso power armv8");
    check("Wx2 Wy1 | Wy2 Wx1", "pso power armv8", "sc tso");
    check("Wx2 lwsync Wy1 | Wy2 lwsync Wx1", "", "sc tso pso power armv8");
    check("Wx2 eieio Wy1 | Wy2 eieio Wx1", "", "sc tso pso power armv8");
}

#[test]
fn three_and_four_threads() {
    check("Wx1 | Rx1 Wy1<data0 | Ry1 Rx0<addr0", "power", "sc tso pso armv8");
    check("Wx1 | Rx1 lwsync Wy1 | Ry1 Rx0<addr0", "", "power armv8");
    check("Wx1 | Wy1 | Rx1 Ry0<addr0 | Ry1 Rx0<addr0", "power", "sc tso pso armv8");
    check("Wx1 | Wy1 | Rx1 lwsync Ry0 | Ry1 lwsync Rx0", "power", "sc tso pso");
    check("Wx1 | Wy1 | Rx1 sync Ry0 | Ry1 sync Rx0", "", "sc tso pso power armv8");
    check("Wx1.rel | Wy1.rel | Rx1.acq Ry0.acq | Ry1.acq Rx0.acq", "rc11 ra", "sc tso armv8");
    check("Wx1.sc | Wy1.sc | Rx1.sc Ry0.sc | Ry1.sc Rx0.sc", "ra", "sc tso armv8 rc11");
    check("Wx1 | Rx1 Ry0 | Wy1 Rx0", "tso pso power armv8", "sc");
    check("Wx1 | Rx1 sync Ry0 | Wy1 sync Rx0", "", "sc tso pso power armv8");
    check("Wx1 | Rx1 lwsync Ry0 | Wy1 sync Rx0", "power", "sc tso pso");
}

#[test]
fn coherence_and_atomicity() {
    for forbidden in ["Wx1 Rx0", "Rx1 Wx1", "Wx2 Wx1", "Wx1 | Rx1 Rx0", "Wx2 | Rx2 Wx1"] {
        check(forbidden, "", "sc tso pso power armv8 rc11 ra");
    }
    let names = "sc tso pso power armv8 rc11 ra";
    check("Rx0.rlx Wx2.rlx<amo0 | Wx1.rlx", "", names);
    check("Rx1.rlx Wx2.rlx<amo0 | Wx1.rlx", names, "");
    check("Rx0.rlx Wx2.rlx<rmw0 | Wx1.rlx", "", names);
    // A write of the own thread between the halves of a load/store-exclusive pair does not break it.
    check("Rx0 Wx1 Wx2<rmw0", "sc tso pso power armv8", "");
}

#[test]
fn locked_instructions_are_fences_under_tso_and_pso() {
    check("Rx0 Wx1<amo0 Ry0 | Ry0 Wy1<amo0 Rx0", "power armv8", "sc tso pso");
    check("Wx1 Rz0 Wz1<amo1 Ry0 | Wy1 mfence Rx0", "power armv8", "sc tso pso");
    check("Rx0 Wx1<amo0 Wy1 | Ry1 Rx0", "power armv8", "sc tso pso");
    check("Rx0.acq Wx1.rel<amo0 Wy1 | Ry1 dmb.ld Rx0", "power", "sc tso pso armv8");
}

#[test]
fn power_preserves_read_different_writes_and_detours() {
    // PPOAA-like: the second read of z comes from another thread after the first read saw something older.
    check("Wx1 sync Wy1 | Ry1 Rz0<addr0 Rz1 Rx0<addr2 | Wz1", "", "power");
    check("Wx1 sync Wy1 | Ry1 Wz1<data0 Rz2 Rx0<addr2 | Wz2", "", "power");
    check("Wx1 sync Wy1 | Ry1 Wz1<data0 Rz1 Rx0<addr2", "", "power armv8");
    check("Wx1 sync Wy1 | Ry1 Wz1<ctrl0 Rz1 Rx0<addr2", "power armv8", "");
}

#[test]
fn races_are_undefined_behaviour_under_language_models() {
    for name in ["rc11", "ra"] {
        let model = Model::builtin(name).expect("a model");
        let judgement = model.check(&execution("Wx1 | Rx1"));
        assert!(judgement.consistent && judgement.undefined, "{judgement:?}");
        assert_eq!(judgement.flags, ["data-race"]);
        assert!(model.check(&execution("Wx1.rlx | Rx1")).undefined);
        assert!(!model.check(&execution("Wx1.rlx | Rx1.rlx")).undefined);
        assert!(!model.check(&execution("Rx0 | Rx0")).undefined);
        assert!(!model.check(&execution("Wx1 Wy1.rel | Ry1.acq Rx1")).undefined);
    }
    let relaxed = execution("Wx1 Wy1.rlx | Ry1.rlx Rx1");
    assert!(Model::builtin("rc11").expect("a model").check(&relaxed).undefined);
    assert!(!Model::builtin("ra").expect("a model").check(&relaxed).undefined);
}
