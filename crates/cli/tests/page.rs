//! The page of `--report` in a real browser, where one is installed: the stepper steps, events and lines follow, and the
//! script has no errors. Without a browser the page is only looked at as text, and the test says so.

mod support;

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use support::fencepost;

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What the page is asked to do; what it finds is written into the title.
const DRIVER: &str = r#"
<script>
  var failures = [];
  window.addEventListener("error", function (event) { failures.push(event.message); });
</script>
"#;
const CLICKS: &str = r#"
<script>
(function () {
  function expect(what, truth) { if (!truth) failures.push(what); }
  function count(selector) { return document.querySelectorAll(selector).length; }
  var rows = document.querySelectorAll(".steps tbody tr");
  expect("rows", rows.length > 4);
  expect("the last step is shown first", rows[rows.length - 1].classList.contains("now"));
  expect("a line of the source is marked", count(".source .now") === 1);
  rows[0].click();
  expect("the first step", rows[0].classList.contains("now") && count(".steps .later") === rows.length - 1);
  document.querySelector(".stepper .next").click();
  expect("the second step", rows[1].classList.contains("now"));
  document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
  expect("the third step", rows[2].classList.contains("now"));
  document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
  expect("back again", rows[1].classList.contains("now"));
  var events = document.querySelectorAll(".picture .event");
  expect("events", events.length > 4);
  events[events.length - 1].dispatchEvent(new MouseEvent("click", { bubbles: true }));
  expect("an event is marked", count(".picture .event.now") > 0);
  var line = document.querySelector(".source .used");
  line.click();
  expect("a line leads to its step", line.classList.contains("now"));
  rows[1].dispatchEvent(new MouseEvent("mouseenter"));
  expect("the mouse shows a line", count(".source .hover") === 1);
  rows[1].dispatchEvent(new MouseEvent("mouseleave"));
  expect("and leaves it", count(".hover") === 0);
  expect("nothing is wider than the page", document.documentElement.scrollWidth <= window.innerWidth + 1);
  document.title = "checked: " + (failures.length === 0 ? "all is well" : failures.join("; "));
})();
</script>
"#;

fn browser() -> Option<&'static str> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    names
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success()))
}

#[test]
fn the_page_works() {
    let folder = Folder(std::env::temp_dir().join(format!("fencepost-page-{}", std::process::id())));
    std::fs::create_dir_all(&folder.0).expect("a folder");
    let page = folder.0.join("report.html");
    let file = "crates/c/corpus/mpmc_vyukov_rlx.c";
    let output = fencepost(&["check", "-j1", file, "--report", &page.display().to_string()]).output();
    assert_eq!(output.expect("it runs").status.code(), Some(1));
    let text = std::fs::read_to_string(&page).expect("written");
    assert!(text.len() < 500_000, "{} bytes", text.len());
    assert!(!text.contains("http://") || text.matches("http://").count() == 1, "only the name space of SVG");
    assert!(!text.contains("https://"), "no network");
    for wanted in ["<h1>unsafe</h1>", "class=\"steps\"", "class=\"picture\"", "class=\"used\"", "FP0"] {
        assert!(text.contains(wanted), "{wanted}");
    }
    let Some(browser) = browser() else {
        // Not `eprintln!`, which the harness shows only when a test fails.
        let _ = writeln!(std::io::stderr(), "absent: a browser; the page was not opened");
        return;
    };
    let driven = text.replacen("<head>", &format!("<head>{DRIVER}"), 1).replacen(
        "</body>",
        &format!("{CLICKS}</body>"),
        1,
    );
    let driven_page = folder.0.join("driven.html");
    std::fs::write(&driven_page, driven).expect("written");
    for size in ["1200,900", "400,800"] {
        let output = Command::new(browser)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
            .arg(format!("--user-data-dir={}", folder.0.join("profile").display()))
            .arg(format!("--window-size={size}"))
            .arg(format!("file://{}", driven_page.display()))
            .output()
            .expect("the browser runs");
        let shown = String::from_utf8_lossy(&output.stdout);
        let title = shown.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next());
        assert_eq!(
            title,
            Some("checked: all is well"),
            "{size}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
