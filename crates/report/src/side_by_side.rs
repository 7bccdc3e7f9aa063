//! Tables with a column per model.

use std::fmt::Write;

/// A column.
pub struct Column {
    head: String,
}

impl Column {
    /// With this head.
    pub fn new(head: &str) -> Column {
        Column { head: head.into() }
    }
}

/// Rows with a name and a cell per column.
pub fn table(columns: &[Column], rows: &[(String, Vec<String>)]) -> String {
    let length = |text: &str| text.chars().count();
    let first = rows.iter().map(|(name, _)| length(name)).max().unwrap_or(0);
    let width = |i: usize| {
        let cells = rows.iter().filter_map(|(_, cells)| cells.get(i)).map(|cell| length(cell));
        cells.chain([length(&columns[i].head)]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let mut out = String::new();
    let mut line = |name: &str, cells: &mut dyn Iterator<Item = &str>| {
        let mut text = format!("  {name:first$}");
        for (cell, width) in cells.zip(&widths) {
            let _ = write!(text, "  {cell:width$}");
        }
        out.push_str(text.trim_end());
        out.push('\n');
    };
    line("", &mut columns.iter().map(|column| column.head.as_str()));
    for (name, cells) in rows {
        line(name, &mut cells.iter().map(String::as_str));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_they_must() {
        let columns = [Column::new("sc"), Column::new("tso")];
        let rows = [("SB".into(), vec!["forbidden".into(), "allowed".into()])];
        assert_eq!(table(&columns, &rows), "      sc         tso\n  SB  forbidden  allowed\n");
    }
}
