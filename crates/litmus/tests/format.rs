//! The parts that all architectures share: header, initial state, table, condition, final states.

mod support;

use fencepost_ir::{Quantifier, Value};
use fencepost_litmus::{Arch, show_state, show_state_into};
use support::{condition, messages, parse, run};

#[test]
fn architectures_have_names_and_models() {
    let names: Vec<_> = Arch::ALL.iter().map(|a| (a.name(), a.default_model())).collect();
    assert_eq!(
        names,
        [
            ("PPC", "power"),
            ("X86", "tso"),
            ("X86_64", "tso"),
            ("AArch64", "armv8"),
            ("ARM", "arm"),
            ("RISCV", "rvwmo"),
            ("C", "rc11")
        ]
    );
    let test = parse("PPC MP+a/b (Alias) \"doc { string\"\nOrig=Pod { Rfe\n{};\n P0 ;\nexists true");
    assert_eq!((test.name.as_str(), test.arch, test.program.name.as_str()), ("MP+a/b", Arch::Ppc, "MP+a/b"));
}

#[test]
fn initial_states_in_all_forms() {
    let init = "0:r2=x; P0:r4=y; x=1; [y]=2; uint64_t w=-1; int *p = &x; a[2]={3,4}; int b[3]; 0:r6=a[1]; int c; ; v=0x10";
    let text = format!(
        "PPC t\n{{ {init} }};\n P0 ;\n lwz r1,0(r2) ;\n lwz r3,0(r4) ;\n lwz r5,0(r6) ;\n\
                        locations [0:r1; 0:r3; 0:r5; w; p; a[0]; b; c; v]"
    );
    assert_eq!(
        run(&text),
        "0:r1=1; 0:r3=2; 0:r5=4; a[0]=3; b[0]=0; b[1]=0; b[2]=0; [c]=0; [p]=x; [v]=16; [w]=-1;"
    );
}

#[test]
fn tables_with_labels_tabs_and_empty_cells() {
    let text = "PPC t\n{ 0:r2=x;\n1:r2=x; }\n\tP0\t|\tP1;\n li r1,1 | ;\nL0: stw r1,0(r2) | Alone: ;\n\
                 | L1: M1: lwz r1,0(r2);\n(* a row *) b End |;\n li r1,9 ;\n End: | ;\nexists (1:r1=1 /\\ 0:r1=1)";
    assert_eq!(run(text), "0:r1=1; 1:r1=1;");
}

#[test]
fn conditions_in_all_forms() {
    let quantifier =
        |end: &str| condition(&parse(&format!("PPC t\n{{ }}\n P0 ;\n li r1,1 ;\n{end}")).program).quantifier;
    for end in [
        "exists (x=0)",
        "exists x=0",
        "exists(x=0);",
        "final (x=0);\nwith default: exists;",
        "locations [x;] exists x=0",
    ] {
        assert_eq!(quantifier(end), Quantifier::Exists, "{end}");
    }
    for end in ["(x=0)", "Observed 0:r1=1; x=0;", "locations [x;]\n(x=1 \\/ x=0)"] {
        assert_eq!(quantifier(end), Quantifier::Exists, "{end}");
    }
    for end in ["~exists (x=0)", "~ exists x=0", "not exists x=0", "~exists (x=0)\n<<\nshow 0\n>>"] {
        assert_eq!(quantifier(end), Quantifier::NotExists, "{end}");
    }
    for end in ["forall (x=0)", "", "locations [x;]", "(* nothing *)"] {
        assert_eq!(quantifier(end), Quantifier::ForAll, "{end}");
    }
}

#[test]
fn propositions_have_the_right_precedence() {
    let holds = |proposition: &str| {
        let text = format!("PPC t\n{{ y=1; 0:r3=y; }}\n P0 ;\n li r1,1 ;\nexists {proposition}");
        !run(&text).ends_with("(condition false)")
    };
    for (proposition, expected) in [
        ("0:r1=1", true),
        ("P0:r1=1 /\\ x=0", true),
        ("0:r1=0 /\\ x=1 \\/ y=1", true),
        ("0:r1=0 /\\ (x=1 \\/ y=1)", false),
        ("not x=1", true),
        ("~(x=0) \\/ true", true),
        ("not (x=1) /\\ false", false),
        ("x=1 => false", true),
        ("x=0 => y=0", false),
        ("x=1 => x=2 => false", true),
        // Tighter than the others, as in herd7.
        ("x=1 => false /\\ y=0", false),
        ("0:r1=*y", true),
        ("y=[y]", true),
        ("0:r3=y", true),
        ("0:r3=&y", true),
        ("0:r1=y", false),
        ("[y]=1", true),
        ("y!=2 /\\ y<2 /\\ y>=1", true),
        ("0:r1=0:r1", true),
        ("0:r7=0", true),
    ] {
        assert_eq!(holds(proposition), expected, "{proposition}");
    }
}

#[test]
fn a_state_shows_condition_and_locations_but_not_the_filter() {
    let text = "PPC t\n{ z=3; }\n P0 ;\n li r10,1 ;\n li r9,2 ;\n\
                locations [y;0:r10;]\nfilter (0:r3=0 /\\ x=0)\nexists (0:r9=2 /\\ x=0 \\/ [z]=1)";
    assert_eq!(run(text), "0:r9=2; 0:r10=1; [x]=0; [y]=0; [z]=3;");
    let program = parse(text).program;
    let condition = condition(&program);
    assert_eq!((condition.observed.len(), condition.shown), (6, 5));
    let values: Vec<Value> = (0..6).map(Value).collect();
    assert!(condition.filter.as_ref().is_some_and(|f| !f.holds(&values)));
    let mut out = "> ".to_string();
    show_state_into(&program, &values, &mut out);
    assert_eq!(out, format!("> {}", show_state(&program, &values)));
}

#[test]
fn registers_are_ordered_by_number_and_locals_by_name() {
    let table = "PPC t\n{ }\n P0 ;\n li r1,1 ;\nlocations [y; 0:r10; x; 0:r9; z;]";
    assert_eq!(run(table), "0:r9=0; 0:r10=0; [x]=0; [y]=0; [z]=0;");
    let c = "C t\n{ }\nP0 (int* x) { int r2 = 1; int r10 = 2; int b = 3; }\nlocations [x; 0:r2; 0:b; 0:r10;]";
    assert_eq!(run(c), "0:b=3; 0:r10=2; 0:r2=1; [x]=0;");
}

#[test]
fn old_and_rare_forms() {
    let observed = "PPC t\n{ }\n P0 ;\n li r1,1 ;\n\nObserved\n    0:r1=2; x=0;\nand 0:r1=1; x=0;\n";
    assert_eq!(run(observed), "0:r1=1; [x]=0;");
    let array = |end: &str| run(&format!("PPC t\n{{ int x[2]={{4,5}}; }}\n P0 ;\n li r1,1 ;\n{end}"));
    assert_eq!(array("exists x={4,5}"), "x[0]=4; x[1]=5;");
    assert_eq!(array("exists x!={4,5}"), "x[0]=4; x[1]=5; (condition false)");
    let init = "PPC t\n{ *p = x; int x = ATOMIC_INIT(3); 0:r2=p; }\n P0 ;\n ld r1,0,r2 ;\n lwz r3,0(r1) ;\nexists 0:r3=3";
    assert_eq!(run(init), "0:r3=3;");
}

#[test]
fn threads_may_have_any_numbers() {
    let text = "PPC t\n{ 3:r2=x; }\n P3 | P1 ;\n li r1,3 | li r1,1 ;\nexists (3:r1=3 /\\ 1:r1=1)";
    assert_eq!(run(text), "1:r1=1; 3:r1=3;");
}

#[test]
fn mistakes_in_the_shared_parts() {
    let with = |init: &str, end: &str| messages(&format!("PPC t\n{{ {init} }}\n P0 ;\n li r1,1 ;\n{end}"));
    assert_eq!(with("7:r1=1;", ""), ["there is no thread 7"]);
    assert_eq!(with("0:X1=1;", ""), ["`X1` is not a register of this architecture"]);
    assert_eq!(with("x=1; x=2;", ""), ["`x` has two initial values"]);
    assert_eq!(with("0:r1=1; 0:r1=2;", ""), ["register `r1` of thread 0 has two initial values"]);
    assert_eq!(with("frob x=1;", ""), ["unknown type `frob`"]);
    assert_eq!(with("x 1; y=;", ""), ["unknown type `x`", "expected a number or a location, found `;`"]);
    assert_eq!(with("", "exists (x=1"), ["expected `)`, found the end of the file"]);
    assert_eq!(with("", "exists (0:r1=q)"), ["unknown location `q`"]);
    assert_eq!(with("", "exists (5:r1=1)"), ["there is no thread 5"]);
    assert_eq!(with("", "exists (x[1]=1)"), ["`x` has no element 1"]);
    assert_eq!(with("", "exists (x=1) x"), ["expected `/\\`, `\\/` or the end of the condition, found `x`"]);
    assert_eq!(with("", "(* open"), ["this comment is never closed"]);
    let deep = format!("exists {}x=1{}", "(".repeat(5000), ")".repeat(5000));
    assert_eq!(with("", &deep), ["this condition is nested too deeply"]);
}
