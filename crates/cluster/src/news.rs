//! What workers tell whoever watches a run: messages that nobody keeps.

use fencepost_explore::BUILD;

/// How long what is told may be: it is shown to people, and comes from anywhere.
const LONGEST: usize = 200;

/// What a worker tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// It works.
    Works,
    /// It is of another build, and does not take the run.
    Refuses(String),
    /// It cannot go on with an item within its limit on memory.
    Lacks(String),
    /// It cannot go on with an item, for another reason of its own.
    Cannot(String),
}

impl News {
    /// The reason.
    pub fn text(&self) -> &str {
        match self {
            News::Works => "",
            News::Refuses(why) | News::Lacks(why) | News::Cannot(why) => why,
        }
    }
}

/// The subject on which a run is told about.
pub(crate) fn subject(name: &str) -> String {
    format!("fencepost.status.{name}")
}

/// A message: who, and what.
pub(crate) fn encode(who: &str, news: &News) -> String {
    match news {
        News::Works => format!("{who} works"),
        News::Refuses(build) => format!("{who} refuses {build}"),
        News::Lacks(why) => format!("{who} lacks {why}"),
        News::Cannot(why) => format!("{who} cannot {why}"),
    }
}

/// A message of our own build about a run of another.
pub(crate) fn refusal(who: &str) -> String {
    encode(who, &News::Refuses(BUILD.into()))
}

/// Who, and what; nothing if it is something else.
pub(crate) fn decode(bytes: &[u8]) -> Option<(String, News)> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| text.len() <= LONGEST)?;
    let shown = text.chars().all(|c| c == ' ' || c.is_ascii_graphic());
    let (who, what) = text.split_once(' ').filter(|_| shown)?;
    let news = match what.split_once(' ') {
        None if what == "works" => News::Works,
        Some(("refuses", build)) => News::Refuses(build.into()),
        Some(("lacks", why)) => News::Lacks(why.into()),
        Some(("cannot", why)) => News::Cannot(why.into()),
        _ => return None,
    };
    Some((who.into(), news))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_are_read_as_they_were_written() {
        let (refuses, lacks) = (News::Refuses("0.1.0+5".into()), News::Lacks("the memory".into()));
        let all = [News::Works, refuses, lacks, News::Cannot("do it".into())];
        for news in all {
            assert_eq!(decode(encode("7-a", &news).as_bytes()), Some(("7-a".into(), news)));
        }
        for wrong in ["", "x", "x y", "x refuses", "x works \u{1b}[2J", &"x".repeat(300)] {
            assert_eq!(decode(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
