//! ARM: what instructions become, and what they compute.

mod support;

use support::{messages, run};

fn state(init: &str, instructions: &[&str], condition: &str) -> String {
    let rows: String = instructions.iter().map(|i| format!(" {i} ;\n")).collect();
    run(&format!("ARM t\n{{ {init} }}\n P0 ;\n{rows}\n{condition}"))
}

fn mistakes(instruction: &str) -> Vec<String> {
    messages(&format!("ARM t\n{{ 0:R2=x; }}\n P0 ;\n {instruction} ;\nexists (x=1)"))
}

#[test]
fn accesses_in_all_forms() {
    for store in ["STR R1,[R2]", "str r1,[R2,#0]", "STR R1,R2", "STREQ R1,[R2]"] {
        assert_eq!(
            state("0:R2=x;", &["MOV R1,#3", "CMP R1,#3", store], "locations [x;]"),
            "[x]=3;",
            "{store}"
        );
    }
    let indexed = ["MOV R3,#1", "MOV R1,#5", "STR R1,[R2,R3,LSL #2]", "LDR R4,[R2,#4]", "LDRD R5,R6,[R2]"];
    assert_eq!(
        state("int x[2]={7,0}; 0:R2=x;", &indexed, "locations [0:R4; 0:R5; 0:R6;]"),
        "0:R4=5; 0:R5=7; 0:R6=5;"
    );
    let several = ["LDM R2,{R3,R4}", "LDR R5,[R2],#4", "LDR R6,[R2]"];
    assert_eq!(
        state("int x[2]={1,2}; 0:R2=x;", &several, "locations [0:R3; 0:R4; 0:R5; 0:R6;]"),
        "0:R3=1; 0:R4=2; 0:R5=1; 0:R6=2;"
    );
    assert_eq!(
        state("x=1; 0:R2=x;", &["MOV R1,#2", "SWP R3,R1,[R2]"], "locations [0:R3; x;]"),
        "0:R3=1; [x]=2;"
    );
}

#[test]
fn conditions_and_arithmetic() {
    let branch = ["MOV R1,#2", "CMP R1,#1", "BGT L0", "MOV R3,#9", "L0: ADDNE R3,R3,#1", "MOVEQ R4,#1"];
    assert_eq!(state("", &branch, "locations [0:R3; 0:R4;]"), "0:R3=1; 0:R4=0;");
    let sums =
        ["MOVW R1,#1", "MOVT R1,#2", "RSB R2,R1,#0", "BIC R3,R1,#1", "ADDS R4,R1,R1,LSL #1", "MVN R5,#0"];
    assert_eq!(
        state("", &sums, "locations [0:R1; 0:R2; 0:R3; 0:R4; 0:R5;]"),
        "0:R1=131073; 0:R2=-131073; 0:R3=131072; 0:R4=393219; 0:R5=-1;"
    );
}

#[test]
fn what_is_not_modelled_is_named() {
    assert_eq!(mistakes("LDA R1,[R2]"), ["`LDA` is not supported"]);
    assert_eq!(mistakes("BHI L0"), ["`BHI` is not supported"]);
    assert_eq!(mistakes("BL f"), ["`BL` is not supported"]);
    assert_eq!(
        mistakes("DMB XY"),
        ["expected `SY`, `ST`, or one of these for `ISH`, `NSH` or `OSH`, found `XY`"]
    );
    assert_eq!(mistakes("LDRR R1,[R2]"), ["unknown ARM instruction `LDRR`"]);
}
