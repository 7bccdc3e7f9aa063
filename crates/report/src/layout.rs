//! Where the boxes and arrows of a picture stand, so that no arrow and no name of one lies on a box, and no name on another
//! arrow.
//!
//! Each row has one box, so that a line along a row meets no other box. An arrow leaves its box along the row, goes up or down in
//! a lane between two columns, and enters the other box along that box's row. Arrows whose rows overlap have different lanes.
//! Between
//! two rows there are only lanes: there, in its own lane, stands the name of an arrow. Arrows may cross each other, at right
//! angles.

use fencepost_answer::picture::{Arrow, Box, Kind, Picture};

/// Height of a line of text in a box, what a box has beside its lines, the room below a box, the first row.
pub const LINE: usize = 15;
const FRAME: usize = 6;
const ROOM: usize = 20;
const TOP: usize = 70;
/// Distance of lanes: more than the longest name is wide.
const LANE: usize = 30;
/// Between a box and the lanes beside it.
const MARGIN: usize = 18;
/// Width of a character.
const CHARACTER: f64 = 7.3;
/// Boxes are as wide as the longest event, or as that much of a place, within limits.
const PLACE: usize = 40;
const NARROWEST: usize = 180;
const WIDEST: usize = 420;

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// Left.
    pub x: usize,
    /// Top.
    pub y: usize,
    /// Width.
    pub w: usize,
    /// Height.
    pub h: usize,
}

/// The way of an arrow.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// Where it leaves its box.
    pub from: (usize, usize),
    /// Where it enters the other.
    pub to: (usize, usize),
    /// Where it goes up or down.
    pub lane: usize,
    /// Its name stands here.
    pub label: Rect,
    /// What it means.
    pub kind: Kind,
    /// It is part of the cycle.
    pub on_cycle: bool,
}

/// Where everything stands.
pub struct Layout {
    /// The threads that have boxes.
    pub threads: Vec<u32>,
    /// The left sides of their columns.
    pub columns: Vec<usize>,
    /// The boxes.
    pub boxes: Vec<Rect>,
    /// The lines in them: what happens, then where.
    pub texts: Vec<[Vec<String>; 2]>,
    /// The arrows whose boxes are there.
    pub routes: Vec<Route>,
    /// The width of the picture.
    pub width: usize,
    /// Where the legend begins.
    pub legend: usize,
}

/// The threads that have boxes.
pub fn threads(picture: &Picture) -> Vec<u32> {
    let mut threads: Vec<u32> = picture.boxes.iter().map(|step| step.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    threads
}

/// A text in lines that fit into a box of that width: parted at spaces, and elsewhere only where there is none.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let fits = ((width - 12) as f64 / CHARACTER) as usize;
    let mut lines = Vec::new();
    let mut rest = text.trim_end();
    while let Some((end, _)) = rest.char_indices().nth(fits) {
        let space = if rest[end..].starts_with(' ') { Some(end) } else { rest[..end].rfind(' ') };
        let (line, next) = match space.filter(|&at| at > 0) {
            Some(space) => (&rest[..space], &rest[space + 1..]),
            None => rest.split_at(end),
        };
        lines.push(line.to_string());
        rest = next;
    }
    lines.push(rest.to_string());
    lines
}

/// An arrow on its way: its gutter, which is the one before the column of that number, its lane in it, and the sides that it
/// leaves and enters.
struct Planned {
    arrow: Arrow,
    gutter: usize,
    lane: usize,
    /// Whether it leaves and enters on the right side.
    sides: [bool; 2],
}

impl Layout {
    /// For a picture.
    pub fn new(picture: &Picture) -> Layout {
        let threads = threads(picture);
        let column = |row: usize| {
            let thread = picture.boxes[row].thread;
            threads.iter().position(|&t| t == thread).unwrap_or(0)
        };
        let planned = plan(picture, &column);
        let length = |step: &Box| step.event.chars().count().max(step.place.chars().count().min(PLACE));
        let longest = picture.boxes.iter().map(length).max().unwrap_or(0);
        let wide = ((longest as f64 * CHARACTER) as usize + 14).clamp(NARROWEST, WIDEST);
        let lanes = |gutter: usize| {
            planned.iter().filter(|p| p.gutter == gutter).map(|p| p.lane + 1).max().unwrap_or(0)
        };
        let gutters: Vec<usize> =
            (0..=threads.len()).map(|gutter| 2 * MARGIN + lanes(gutter) * LANE).collect();
        let left = |column: usize| gutters[..=column].iter().sum::<usize>() + column * wide;
        let columns: Vec<usize> = (0..threads.len()).map(left).collect();
        let texts: Vec<[Vec<String>; 2]> = picture
            .boxes
            .iter()
            .map(|step| [wrapped(&step.event, wide), wrapped(&step.place, wide)])
            .collect();
        let mut y = TOP;
        let place = |(row, [event, place]): (usize, &[Vec<String>; 2])| {
            let rect =
                Rect { x: columns[column(row)], y, w: wide, h: FRAME + LINE * (event.len() + place.len()) };
            y += rect.h + ROOM;
            rect
        };
        let boxes: Vec<Rect> = texts.iter().enumerate().map(place).collect();
        let ports = Ports::new(&planned);
        let route = |(number, plan): (usize, &Planned)| {
            let end = |row: usize, right: bool, entering: bool| {
                let Rect { x, y, w, h } = boxes[row];
                let (at, of) = ports.at(row, right, number, entering);
                (if right { x + w } else { x }, y + (at + 1) * h / (of + 1))
            };
            let start = left(plan.gutter) - gutters[plan.gutter] + MARGIN;
            let start = if plan.gutter == 0 { MARGIN } else { start };
            let lane = start + plan.lane * LANE + LANE / 2;
            let Arrow { from, to, kind, on_cycle } = plan.arrow;
            let gap = boxes[from.min(to)].y + boxes[from.min(to)].h;
            let (w, h) = (6 * kind.name().len() + 2, 12);
            let label = Rect { x: lane - w / 2, y: gap + (ROOM - h) / 2, w, h };
            let [out, into] = plan.sides;
            Route { from: end(from, out, false), to: end(to, into, true), lane, label, kind, on_cycle }
        };
        let routes = planned.iter().enumerate().map(route).collect();
        let width = gutters.iter().sum::<usize>() + threads.len() * wide;
        let legend = y + 10;
        Layout { threads, columns, boxes, texts, routes, width, legend }
    }
}

/// Gutters and lanes: short arrows first, so that they stay close to their boxes.
fn plan(picture: &Picture, column: &dyn Fn(usize) -> usize) -> Vec<Planned> {
    let count = picture.boxes.len();
    let mut arrows: Vec<Arrow> =
        picture.arrows.iter().copied().filter(|a| a.from != a.to && a.from.max(a.to) < count).collect();
    arrows.sort_by_key(|arrow| arrow.from.abs_diff(arrow.to));
    let mut planned: Vec<Planned> = Vec::new();
    for arrow in arrows {
        let (a, b) = (column(arrow.from), column(arrow.to));
        let (gutter, sides) = match a.cmp(&b) {
            std::cmp::Ordering::Less => (a + 1, [true, false]),
            std::cmp::Ordering::Greater => (a, [false, true]),
            std::cmp::Ordering::Equal if arrow.kind == Kind::Po => (a, [false, false]),
            std::cmp::Ordering::Equal => (a + 1, [true, true]),
        };
        let rows = |arrow: &Arrow| (arrow.from.min(arrow.to), arrow.from.max(arrow.to));
        let (first, last) = rows(&arrow);
        let is_free = |lane: &usize| {
            let mut same = planned.iter().filter(|p| p.gutter == gutter && p.lane == *lane);
            same.all(|p| rows(&p.arrow).1 < first || last < rows(&p.arrow).0)
        };
        let lane = (0..).find(is_free).unwrap_or(0);
        planned.push(Planned { arrow, gutter, lane, sides });
    }
    planned
}

/// The ends of arrows at the sides of boxes: each has a height of its own.
struct Ports {
    /// Row, side, the other end's row, number of the arrow, whether it ends here.
    ends: Vec<(usize, bool, usize, usize, bool)>,
}

impl Ports {
    fn new(planned: &[Planned]) -> Ports {
        let mut ends = Vec::new();
        for (number, plan) in planned.iter().enumerate() {
            let Arrow { from, to, .. } = plan.arrow;
            ends.push((from, plan.sides[0], to, number, false));
            ends.push((to, plan.sides[1], from, number, true));
        }
        ends.sort_unstable();
        Ports { ends }
    }

    /// Which end of how many at that side this one is, counted from above.
    fn at(&self, row: usize, right: bool, number: usize, entering: bool) -> (usize, usize) {
        let side = self.ends.iter().filter(|end| end.0 == row && end.1 == right);
        let at = side.clone().position(|end| end.3 == number && end.4 == entering);
        (at.unwrap_or(0), side.count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_diag::Span;

    /// A picture of that many threads and events with arrows all over it.
    fn picture(threads: u32, events: usize, mut seed: u64) -> Picture {
        let mut random = move |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        let step = |thread: usize| Box {
            thread: thread as u32,
            event: "W.rel q.cells[0].sequence = 1".into(),
            place: "31: atomic_store_explicit(...)".into(),
            span: Span::default(),
            marked: false,
        };
        let boxes = (0..events).map(|_| step(random(threads as usize))).collect();
        let mut arrows = Vec::new();
        for _ in 0..events * 3 / 2 {
            let from = random(events);
            let to = (from + 1 + random(12)).min(events - 1);
            let (from, to) = if random(2) == 0 { (from, to) } else { (to, from) };
            arrows.push(Arrow { from, to, kind: Kind::ALL[random(Kind::ALL.len())], on_cycle: false });
        }
        Picture { title: String::new(), threads: Vec::new(), boxes, arrows }
    }

    fn overlap(one: Rect, other: Rect) -> bool {
        one.x < other.x + other.w
            && other.x < one.x + one.w
            && one.y < other.y + other.h
            && other.y < one.y + one.h
    }

    /// The three straight parts of an arrow as rectangles.
    fn parts(route: &Route) -> [Rect; 3] {
        let along = |(x1, y): (usize, usize), x2: usize| Rect { x: x1.min(x2), y, w: x1.abs_diff(x2), h: 1 };
        let (y1, y2) = (route.from.1, route.to.1);
        let up = Rect { x: route.lane, y: y1.min(y2), w: 1, h: y1.abs_diff(y2) };
        [along(route.from, route.lane), up, along(route.to, route.lane)]
    }

    #[test]
    fn nothing_lies_on_anything_else() {
        for (threads, events, seed) in
            [(1, 3, 1), (2, 8, 2), (3, 30, 3), (8, 100, 4), (8, 100, 5), (5, 60, 6)]
        {
            let picture = picture(threads, events, seed);
            let layout = Layout::new(&picture);
            assert!(!layout.routes.is_empty());
            for (i, route) in layout.routes.iter().enumerate() {
                for (row, &stands) in layout.boxes.iter().enumerate() {
                    assert!(!overlap(route.label, stands), "the name of {i} on the box of row {row}");
                    // An arrow touches the boxes at its ends from outside.
                    for part in parts(route) {
                        assert!(
                            !overlap(part, stands),
                            "arrow {i} on the box of row {row}: {part:?} {stands:?}"
                        );
                    }
                }
                for (j, other) in layout.routes.iter().enumerate().filter(|(j, _)| *j != i) {
                    assert!(!overlap(route.label, other.label), "the names of {i} and {j}");
                    for part in parts(other) {
                        assert!(!overlap(route.label, part), "the name of {i} on arrow {j}");
                    }
                    let same = route.lane == other.lane && overlap(parts(route)[1], parts(other)[1]);
                    assert!(!same, "arrows {i} and {j} in one lane");
                }
            }
        }
    }

    #[test]
    fn long_texts_go_on_in_the_next_line() {
        let text = "31: atomic_compare_exchange_strong_explicit(&queue->cells[position & mask].sequence, &expected, next, a, b)";
        let lines = wrapped(text, 320);
        // A word that is longer than a line is parted.
        assert_eq!(lines.concat().replace(' ', ""), text.replace(' ', ""));
        assert_eq!(
            wrapped("the load of main was done before", 320 / 2),
            ["the load of main was", "done before"]
        );
        assert!(lines.len() > 2 && lines.iter().all(|line| line.chars().count() <= 42), "{lines:?}");
        assert_eq!(wrapped(&"\u{e4}".repeat(50), 320).concat(), "\u{e4}".repeat(50));
        assert_eq!(wrapped("", 320), [""]);
    }

    #[test]
    fn a_hundred_events_of_eight_threads_are_no_wall() {
        let layout = Layout::new(&picture(8, 100, 7));
        assert!(layout.width < 6000 && layout.legend < 6000, "{} {}", layout.width, layout.legend);
    }
}
