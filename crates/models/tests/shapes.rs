//! The classical litmus shapes, written as executions, with the verdict of each model; and a check that they notice when
//! a model loses an axiom or a clause of a definition.

mod common;

use common::execution;
use fencepost_ir::Execution;
use fencepost_models::Model;
use fencepost_models::ast::Role;

const ALL: &str = "sc tso pso ra rc11 rc20 power armv8";

/// An execution, the models that allow it and the models that forbid it.
type Shape = (String, &'static str, &'static str);

fn shapes() -> Vec<Shape> {
    let mut all = Vec::new();
    for group in [
        store_buffering,
        message_passing,
        load_buffering,
        write_shapes,
        more_threads,
        coherence_and_atomicity,
        read_modify_writes,
        power_order,
        armv8_order,
        rc11_order,
    ] {
        let mut add = |text: &str, allowed, forbidden| all.push((text.to_string(), allowed, forbidden));
        group(&mut add);
    }
    all
}

type Add<'a> = &'a mut dyn FnMut(&str, &'static str, &'static str);

fn store_buffering(add: Add) {
    add("Wx1 Ry0 | Wy1 Rx0", "tso pso power armv8 rc11 ra", "sc");
    for fence in ["sync", "mfence", "dmb.sy", "dsb.sy", "c11.sc"] {
        let text = format!("Wx1.rlx {fence} Ry0.rlx | Wy1.rlx {fence} Rx0.rlx");
        add(&text, "", "sc tso pso power armv8 rc11 ra");
    }
    for fence in ["lwsync", "c11.rel", "c11.acqrel"] {
        add(&format!("Wx1 {fence} Ry0 | Wy1 {fence} Rx0"), "tso pso power", "sc armv8");
    }
    for fence in
        ["dmb.ld", "dmb.st", "dsb.ld", "eieio", "sfence", "lfence", "isb", "isync", "c11.acq", "c11.con"]
    {
        add(&format!("Wx1 {fence} Ry0 | Wy1 {fence} Rx0"), "tso pso power armv8", "sc");
    }
    add("Wx1 dsb.st Ry0 | Wy1 dsb.st Rx0", "tso pso power", "sc armv8");
    add("Wx1.rel Ry0.acq | Wy1.rel Rx0.acq", "rc11 ra tso pso", "sc armv8");
    add("Wx1.rel Ry0.acqpc | Wy1.rel Rx0.acqpc", "armv8", "sc");
    add("Wx1.sc Ry0.sc | Wy1.sc Rx0.sc", "ra", "sc rc11 armv8");
}

fn message_passing(add: Add) {
    add("Wx1.rlx Wy1.rlx | Ry1.rlx Rx0.rlx", "pso power armv8 rc11", "sc tso ra");
    for fence in ["sfence", "eieio", "dmb.st", "dsb.st", "lwsync", "mfence", "c11.rel", "c11.acqrel"] {
        add(&format!("Wx1 {fence} Wy1 | Ry1 Rx0"), "power armv8", "pso tso sc");
        add(&format!("Wx1 {fence} Wy1 | Ry1 Rx0<addr0"), "", "pso tso sc power armv8");
    }
    for fence in ["lfence", "dmb.ld", "dsb.ld", "c11.acq", "c11.con"] {
        add(&format!("Wx1 {fence} Wy1 | Ry1 Rx0<addr0"), "armv8 pso", "tso sc power");
        add(&format!("Wx1 sync Wy1 | Ry1 {fence} Rx0"), "", "power armv8");
    }
    for fence in ["isync", "isb"] {
        add(&format!("Wx1 sync Wy1 | Ry1 {fence}<ctrl0 Rx0"), "", "power armv8");
        add(&format!("Wx1 sync Wy1 | Ry1 {fence} Rx0"), "power armv8", "");
    }
    add("Wx1 sync Wy1 | Ry1 Rx0<ctrl0", "power armv8", "");
    add("Wx1 Wy1 | Ry1 Rx0<addr0", "power armv8 pso", "tso");
    add("Wx1 dmb.sy Wy1.rel | Ry1.acqpc Rx0", "", "armv8");
    add("Wx1.rlx Wy1.rel | Ry1.acq Rx0.rlx", "", "sc tso rc11 ra armv8");
}

fn load_buffering(add: Add) {
    add("Rx1.rlx Wy1.rlx | Ry1.rlx Wx1.rlx", "power armv8", "sc tso pso rc11 ra");
    add("Rx1 Wy1 | Ry1 Wx1", "power armv8", "sc tso pso rc11 ra");
    add("Rx1 Wy1<data0 | Ry1 Wx1<data0", "", "power armv8");
    add("Rx1 Wy1<ctrl0 | Ry1 Wx1<ctrl0", "", "power armv8");
    add("Rx1 Wy1<ctrl0 | Ry1 Wx1<addr0", "", "power armv8");
    add("Rx1 Wy1<data0 | Ry1 Wx1", "power armv8", "");
    add("Rx1 Rz0<addr0 Wy1 | Ry1 Wx1<data0", "", "power armv8");
    add("Rx1 Wz1<data0 Wy1 | Ry1 Wx1<data0", "power armv8", "");
    add("Rx1.acq Wy1 | Ry1 Wx1.rel", "power", "armv8");
    for fence in ["sync", "lwsync", "dmb.ld", "lfence"] {
        add(&format!("Rx1 {fence} Wy1 | Ry1 {fence} Wx1"), "", "sc tso pso power armv8");
    }
    add("Rx1 eieio Wy1 | Ry1 eieio Wx1", "power armv8", "sc tso pso");
}

fn write_shapes(add: Add) {
    add("Wx2 Wy1 | Ry1 Wx1", "pso power armv8", "sc tso");
    add("Wx2 lwsync Wy1 | Ry1 Wx1<data0", "", "sc tso pso power armv8");
    add("Wx1 Wy1 | Wy2 Rx0", "tso pso power armv8", "sc");
    add("Wx1 lwsync Wy1 | Wy2 sync Rx0", "power", "sc tso pso armv8");
    add("Wx1 sync Wy1 | Wy2 sync Rx0", "", "sc tso pso power armv8");
    add("Wx1.rlx c11.sc Wy1.rlx | Wy2.rlx c11.sc Rx0.rlx", "", ALL);
    add("Wx2 Wy1 | Wy2 Wx1", "pso power armv8", "sc tso");
    add("Wx2 lwsync Wy1 | Wy2 lwsync Wx1", "", "sc tso pso power armv8");
    add("Wx2 eieio Wy1 | Wy2 eieio Wx1", "", "sc tso pso power armv8");
    add("Wx2.rel Wy1.rel | Wy2.rel Wx1.rel", "ra rc11", "sc tso armv8");
    add("Wx2.sc Wy1.sc | Wy2.sc Wx1.sc", "ra", "sc tso armv8 rc11");
}

fn more_threads(add: Add) {
    add("Wx1 | Rx1 Wy1<data0 | Ry1 Rx0<addr0", "power", "sc tso pso armv8");
    add("Wx1 | Rx1 lwsync Wy1 | Ry1 Rx0<addr0", "", "power armv8");
    add("Wx1.rlx | Rx1.rlx Wy1.rlx | Ry1.rlx Rx0.rlx", "rc11", "ra");
    add("Wx1 | Wy1 | Rx1 Ry0<addr0 | Ry1 Rx0<addr0", "power", "sc tso pso armv8");
    add("Wx1 | Wy1 | Rx1 lwsync Ry0 | Ry1 lwsync Rx0", "power", "sc tso pso");
    add("Wx1 | Wy1 | Rx1 sync Ry0 | Ry1 sync Rx0", "", "sc tso pso power armv8");
    add("Wx1.rlx | Wy1.rlx | Rx1.rlx c11.sc Ry0.rlx | Ry1.rlx c11.sc Rx0.rlx", "", ALL);
    add("Wx1.rel | Wy1.rel | Rx1.acq Ry0.acq | Ry1.acq Rx0.acq", "rc11 ra", "sc tso armv8");
    add("Wx1.sc | Wy1.sc | Rx1.sc Ry0.sc | Ry1.sc Rx0.sc", "ra", "sc tso armv8 rc11");
    add("Wx1 | Rx1 Ry0 | Wy1 Rx0", "tso pso power armv8", "sc");
    add("Wx1 | Rx1 sync Ry0 | Wy1 sync Rx0", "", "sc tso pso power armv8");
    add("Wx1 | Rx1 lwsync Ry0 | Wy1 sync Rx0", "power", "sc tso pso");
    add("Wx1 lwsync Wy1 | Ry1 Wz1<data0 | Rz1 Rx0<addr0", "", "power armv8");
    add("Wx1 lwsync Wy1 | Ry1 lwsync Wz1 | Wz2 sync Rx0", "power", "armv8");
}

fn coherence_and_atomicity(add: Add) {
    for text in ["Wx1 Rx0", "Rx1 Wx1", "Wx2 Wx1", "Wx1 | Rx1 Rx0", "Wx2 | Rx2 Wx1"] {
        add(text, "", ALL);
    }
    for pair in ["amo", "rmw"] {
        add(&format!("Rx0.rlx Wx2.rlx<{pair}0 | Wx1.rlx"), "", ALL);
        add(&format!("Rx1.rlx Wx2.rlx<{pair}0 | Wx1.rlx"), ALL, "");
    }
    // A write of the own thread between the halves of a load/store-exclusive pair does not break it.
    add("Rx0 Wx1 Wx2<rmw0", "sc tso pso power armv8", "");
}

fn read_modify_writes(add: Add) {
    add("Rx0 Wx1<amo0 Ry0 | Ry0 Wy1<amo0 Rx0", "power armv8", "sc tso pso");
    add("Rx0 Wx1<amo0 Ry0 | Wy1 mfence Rx0", "power armv8", "sc tso pso");
    add("Wx1 Ry0 Wy1<amo1 | Wy2 mfence Rx0", "power armv8", "sc tso pso");
    add("Wx1 Rz0 Wz1<amo1 Ry0 | Wy1 mfence Rx0", "power armv8", "sc tso pso");
    add("Rx0 Wx1<amo0 Wy1 | Ry1 Rx0", "power armv8", "sc tso pso");
    // A compare-exchange that fails is a fence too; load- and store-exclusives are none.
    add("Wx1 Rz0! Ry0 | Wy1 mfence Rx0", "power armv8", "sc tso pso");
    add("Wx1 Ry0! | Wy1 mfence Rx0", "power armv8", "sc tso pso");
    add("Wx1 Rz0 Wz1<rmw1 Ry0 | Wy1 mfence Rx0", "tso pso power armv8", "sc");
    add("Wx1 Ry0 Wy1<amo1 | Ry1 Rx0", "power armv8", "sc tso pso");
    add("Rx0.acq Wx1.rel<amo0 Wy1 | Ry1 dmb.ld Rx0", "power", "sc tso pso armv8");
    add("Rx0.acq Wx1.rel<rmw0 Wy1 | Ry1 dmb.ld Rx0", "power armv8 pso", "sc tso");
    add("Rx0 Wx1.rel<amo0 Wy1 | Ry1 dmb.ld Rx0", "power armv8", "sc tso pso");
    add("Rx0.acq Wx1.rel<amo0 Ry0 | Ry0.acq Wy1.rel<amo0 Rx0", "power", "sc tso pso armv8");
    // A release sequence goes through read-modify-writes of any thread.
    add("Wx1.rlx Wy1.rel | Ry1.rlx Wy2.rlx<amo0 | Ry2.acq Rx0.rlx", "", "rc11 ra");
    add("Wx1.rlx Wy1.rel | Ry1.rlx Wy2.rlx | Ry2.acq Rx0.rlx", "rc11", "ra");
}

/// Preserved program order of POWER, on the reading side of message passing; and what prop is made of.
fn power_order(add: Add) {
    add("Wx1 sync Wy1 | Ry1 Rz0<addr0 Rx0<addr1", "", "power armv8");
    // Read different writes, with and without the write from outside.
    add("Wx1 sync Wy1 | Ry1 Rz0<addr0 Rz1 Rx0<addr2 | Wz1", "", "power");
    add("Wx1 sync Wy1 | Ry1 Rz0<addr0 Rz0 Rx0<addr2", "power", "");
    // Detours, behind data and control dependencies.
    add("Wx1 sync Wy1 | Ry1 Wz1<data0 Rz2 Rx0<addr2 | Wz2", "", "power armv8");
    add("Wx1 sync Wy1 | Ry1 Wz1<ctrl0 Rz2 Rx0<addr2 | Wz2", "", "power armv8");
    add("Wx1 sync Wy1 | Ry1 Wz1 Rz2 Rx0<addr2 | Wz2", "power armv8", "");
    // Store forwarding.
    add("Wx1 sync Wy1 | Ry1 Wz1<data0 Rz1 Rx0<addr2", "", "power armv8");
    add("Wx1 sync Wy1 | Ry1 Wz1<ctrl0 Rz1 Rx0<addr2", "power armv8", "");
    add("Wx1 sync Wy1 | Ry1 Wz1<addr0 Rz1 Rx0<addr2", "", "power armv8");
    // Control and isync at the end of a chain.
    add("Wx1 sync Wy1 | Ry1 Rz0<addr0 isync<ctrl1 Rx0", "", "power armv8");
    add("Wx1 sync Wy1 | Ry1 isync<ctrl0 Rz0 Rx0<addr2", "", "power armv8");
    // Into a write: same location, through an address, through a chain.
    add("Rx1 Wy1<data0 Wy2 | Ry2 Wx1<data0", "", "power armv8");
    add("Rx1 Wy1 Wy2<data0 | Ry2 Wx1<data0", "", "power armv8");
    add("Rx1 Wz1<addr0 Wy1 | Ry1 Wx1<data0", "", "power armv8");
    add("Rx1 Rz0<ctrl0 Wy1 | Ry1 Wx1<data0", "", "power armv8");
    add("Rx1 Ry0<addr0 Wy1 | Ry1 Wx1<data0", "", "power armv8");
    // Same location, then a dependency; ARMv8 forwards the store before the first read is done.
    add("Rx1 Wx2 Rx2 Wy1<data2 | Ry1 Wx1<data0", "armv8", "power");
    add("Rz1 Wx1<data0 Wx2 Rx2 Wy1<data3 | Ry1 Wz1<data0", "armv8", "power");
    // Propagation: strong fences after a chain of reads and weak fences.
    add("Wx1 | Rx1 lwsync Wy1 | Ry1 sync Rz0 | Wz1 sync Rx0", "", "power armv8");
    add("Wx1 lwsync Wy1 | Ry1 sync Rz0 | Wz1 sync Rx0", "", "power armv8");
    add("Wx2 sync Wy1 | Ry1 Wx1", "power armv8", "");
    add("Wx2 | Rx2 lwsync Wy1 | Ry1 Wx1<data0", "", "power armv8");
    // Three light fences in a row do not order a write before a read.
    add("Wx1 lwsync lwsync lwsync Ry0 | Wy1 sync Rx0", "power", "");
}

fn armv8_order(add: Add) {
    add("Rx1 Wy1<pick0 | Ry1 Wx1<data0", "", "power armv8");
    add("Wx1 dmb.sy Wy1 | Ry1 Rx0<pick0", "armv8", "");
    add("Wx1 dmb.sy Wy1 | Ry1 isb<pick0 Rx0", "", "armv8");
    add("Wx1 dmb.sy Wy1 | Ry1 Rz0<pick0 isb Rx0", "", "armv8");
    add("Rx1 Rz0<pick0 Wy1 | Ry1 Wx1<data0", "", "armv8");
    add("Rx1 Wz1<pick0 Wy1 | Ry1 Wx1<data0", "armv8", "");
    add("Rx1 Wz1<pickaddr0 Wy1 | Ry1 Wx1<data0", "", "armv8");
    add("Wx1 dmb.sy Wy1 | Ry1 Wz1<pickaddr0 isb Rx0", "", "armv8");
    add("Wx1 dmb.sy Wy1 | Ry1 Wz1<pick0 isb Rx0", "armv8", "");
    add("Rx1 Wz1<pick0 Rz1 Wy1<data2 | Ry1 Wx1<data0", "", "armv8");
    add("Wx2 dmb.st Wy1 | Ry1 Wz1<pick0 Rz1.acq Wx1", "", "armv8");
    add("Wx1 dmb.sy Wy1 | Ry1 Wz1<data0 Rz1.acqpc Rx0", "", "armv8");
    add("Wx1 dmb.sy Wy1 | Ry1 Wz1<pick0 Rz1 isb<ctrl2 Rx0", "", "armv8");
    // From what one instruction has read and written to a branch behind a read of it, and not to that read.
    add("Rx1 Wx2<data0<amo0 Rx2 Wy1<ctrl2 | Ry1 Wx1<data0", "", "armv8");
    add("Wx1 dmb.sy Wy1 | Ry1 Wy2<data0<amo0 Ry2 isb<ctrl2 Rx0", "", "armv8");
    add("Rx1 Wz1<pick0 Rz1 Wu1<data2 Ru1 Wy1<data4 | Ry1 Wx1<data0", "", "armv8");
    add("Wx1 dmb.sy Wy1 | Ry1 Wz1<pick0 Rz1 Rx0<addr2", "armv8", "");
    add("Wx1 dmb.sy Wy1 | Ry1 Rz0<addr0 isb Rx0", "", "armv8");
    // An acquire that reads its own read-modify-write comes after it.
    add("Wx1 dmb.sy Wz1 | Rz1 Wz2<amo0 Rz2.acq Rx0", "", "armv8");
    add("Wx1 dmb.sy Wz1 | Rz1 Wz2<rmw0 Rz2.acqpc Rx0", "", "armv8");
    add("Wx1 dmb.sy Wz1 | Rz1 Wz2<amo0 Rz2 Rx0<addr2", "armv8", "");
    add("Wx1 dmb.sy Wz1 | Rz1 Wz2 Rz2.acq Rx0", "armv8", "");
    add("Rx1.acqpc Wy1 | Ry1.acqpc Wx1", "", "armv8");
    add("Wx1 dmb.st Wy1.rel | Ry1 dmb.ld Rx0", "", "armv8");
}

fn rc11_order(add: Add) {
    for release in ["rel", "acqrel", "sc"] {
        for acquire in ["acq", "con", "acqrel", "sc"] {
            add(&format!("Wx1.rlx Wy1.{release} | Ry1.{acquire} Rx0.rlx"), "", "rc11 ra");
        }
        add(&format!("Wx1.rlx Wy1.{release} | Ry1.rlx Rx0.rlx"), "rc11", "ra");
    }
    for release in ["c11.rel", "c11.acqrel", "c11.sc", "lwsync", "sync"] {
        for acquire in ["c11.acq", "c11.con", "c11.acqrel", "c11.sc", "lwsync", "sync", "dmb.ld", "dsb.ld"] {
            add(&format!("Wx1.rlx {release} Wy1.rlx | Ry1.rlx {acquire} Rx0.rlx"), "", "rc11 ra");
        }
    }
    add("Wx1.rlx c11.acq Wy1.rlx | Ry1.rlx c11.acq Rx0.rlx", "rc11", "");
    add("Wx1.rlx c11.rel Wy1.rlx | Ry1.rlx c11.rel Rx0.rlx", "rc11", "");
    add("Wx1.rlx c11.rel Wy1 | Ry1 c11.acq Rx0.rlx", "rc11 ra", "");
    // The one thing in which rc20 is not rc11.
    add("Wx1.rlx Wy1.rel Wy2.rlx | Ry2.acq Rx0.rlx", "rc20", "rc11 ra");
    add("Wx1.rlx Wy1.rel Wy2.rlx | Ry2.rlx Wy3.rlx<amo0 | Ry3.acq Rx0.rlx", "rc20", "rc11 ra");
    // Sequential consistency through happens-before by way of other locations.
    add("Wx1.sc Wy1.rel | Ry1.acq Rz0.sc | Wz1.sc Rx0.sc", "ra", "rc11");
    add("Wx1.sc Wy1.rlx | Ry1.rlx Rz0.sc | Wz1.sc Rx0.sc", "ra rc11", "");
    // The fences of RWC need eco with a read in it.
    add("Wx1.rlx | Rx1.rlx c11.sc Ry0.rlx | Wy1.rlx c11.sc Rx0.rlx", "", ALL);
    // Weakly ordered accesses between the sequentially consistent ones (section 2.1 of the paper).
    add("Wx1.sc Wy1.rel | Ry1.acq Wy2.rlx<amo0 Ry3.rlx | Wy3.sc Rx0.sc", "rc11 ra", "");
}

fn agrees(model: &Model, name: &str, shape: &Shape, x: &Execution) -> bool {
    // What is said of rc11 is said of rc20 too, unless that is mentioned.
    let mentioned = [shape.1, shape.2].iter().any(|models| models.split_whitespace().any(|m| m == "rc20"));
    let name = if name == "rc20" && !mentioned { "rc11" } else { name };
    let listed = |models: &str| models.split_whitespace().any(|m| m == name);
    let consistent = model.check(x).consistent;
    (!listed(shape.1) || consistent) && (!listed(shape.2) || !consistent)
}

#[test]
fn shapes_have_their_verdicts() {
    for name in ALL.split_whitespace() {
        let model = Model::builtin(name).expect("a model");
        for shape in shapes() {
            let x = execution(&shape.0);
            let failed = model.check(&x).failed;
            assert!(agrees(&model, name, &shape, &x), "{name}: {shape:?}, failed axioms: {failed:?}");
        }
    }
}

/// Clauses that may go without any effect on a verdict. The models keep them because the papers have them.
const REDUNDANT: &[(&str, &str)] = &[
    // Every basic step of ii is one of cc (rdw and rfi are within po-loc), so ic = cc; then ic;ci and cc;ci do for each
    // other, and so do cc;cc and ic;cc. ctrl-isync is within ctrl and detour within po-loc, so ci is within cc.
    ("power", "ii without ic; ci"),
    ("power", "ci without ci; ii"),
    ("power", "ci without cc; ci"),
    ("power", "ic without ii"),
    ("power", "ic without ic; cc"),
    ("power", "ic without ii; ic"),
    ("power", "cc without ci"),
    ("power", "cc without ci; ic"),
    ("power", "cc without cc; cc"),
    // Cut a cycle of any axiom at its full fences: each piece begins with com*;prop-base* and is in prop by itself.
    ("power", "fence without ffence"),
    // Both halves access one location, and local write successors are ordered.
    ("armv8", "aob without rmw"),
    // What an address or the data comes from is ordered by that, and picks order more than control and addresses do.
    ("armv8", "hop without addr"),
    ("armv8", "hop without data"),
    ("armv8", "dob without data"),
    ("armv8", "dob without ctrl; [W]"),
    ("armv8", "dob without addr; po; [W]"),
    ("armv8", "dob without (ctrl | addr; po); [isb]; po; [R]"),
    // The axiom closes the union.
    ("armv8", "lob without lob; lob"),
];

#[test]
fn every_axiom_and_clause_is_noticed() {
    let shapes: Vec<(Shape, Execution)> =
        shapes().into_iter().map(|s| (s.clone(), execution(&s.0))).collect();
    let mut missed = Vec::new();
    for name in ALL.split_whitespace() {
        let model = Model::builtin(name).expect("a model");
        let mut mutants: Vec<(String, Model)> = Vec::new();
        for axiom in model.axioms().iter().filter(|a| a.role == Role::Axiom) {
            mutants.push((
                format!("axiom {}", axiom.name),
                model.without_axiom(axiom.name).expect("it is there"),
            ));
        }
        let flags = ["conflict", "race"];
        for clause in model.clauses().into_iter().filter(|c| !flags.contains(&c.definition.as_str())) {
            let mutant = model.with_definition(&clause.definition, &clause.rest).expect("a valid model");
            let text = clause.text.split_whitespace().collect::<Vec<_>>().join(" ");
            mutants.push((format!("{} without {text}", clause.definition), mutant));
        }
        for (what, mutant) in mutants {
            let noticed = shapes.iter().any(|(shape, x)| !agrees(&mutant, name, shape, x));
            let excused = REDUNDANT.iter().any(|(n, w)| *n == name && *w == what);
            if noticed == excused {
                missed.push(format!("{name}: {what}{}", if excused { " is noticed after all" } else { "" }));
            }
        }
    }
    assert!(missed.is_empty(), "not noticed:\n{}", missed.join("\n"));
}

#[test]
fn races_are_undefined_behaviour_under_language_models() {
    for name in ["rc11", "rc20", "ra"] {
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
