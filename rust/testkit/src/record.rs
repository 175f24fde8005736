//! Writes records (docs/record-format.md) from JSON.

use serde_json::Value;

/// One root of a record.
#[derive(Debug, Clone)]
pub enum Root {
    /// A root that does not apply.
    Absent,
    /// A plain value: custom resources, params, labels.
    Plain(Value),
    /// A value read by reflection from a Go type: maps become structs, except under these paths' last names.
    Typed(Value),
    /// A value whose conversion failed.
    Error(String),
}

/// Fields of built-in types that are Go maps and not structs.
const GO_MAPS: [&str; 8] =
    ["labels", "annotations", "data", "matchLabels", "nodeSelector", "limits", "requests", "extra"];

const TYPED: u8 = 1;

struct Cell {
    tag: u8,
    flags: u8,
    len: u32,
    payload: u64,
}

/// Encodes a record with these roots.
pub fn encode(roots: &[Root]) -> Vec<u8> {
    let mut cells: Vec<Cell> = Vec::new();
    let mut heap: Vec<u8> = Vec::new();
    // (cell to fill, value, typed, is a Go map)
    let mut queue: std::collections::VecDeque<(usize, Value, bool, bool)> = std::collections::VecDeque::new();
    for (index, root) in roots.iter().enumerate() {
        let mut cell = Cell { tag: 0, flags: 0, len: 0, payload: 0 };
        match root {
            Root::Absent => {}
            Root::Error(text) => {
                cell.tag = 10;
                put(&mut heap, &mut cell, text);
            }
            Root::Plain(value) => queue.push_back((index, value.clone(), false, true)),
            Root::Typed(value) => queue.push_back((index, value.clone(), true, false)),
        }
        cells.push(cell);
    }
    while let Some((at, value, typed, go_map)) = queue.pop_front() {
        let mut cell = Cell { tag: 1, flags: 0, len: 0, payload: 0 };
        match value {
            Value::Null => {}
            Value::Bool(b) => (cell.tag, cell.payload) = (2, u64::from(b)),
            Value::Number(n) => match (n.as_i64(), n.as_u64()) {
                (Some(i), _) => (cell.tag, cell.payload) = (3, i as u64),
                (_, Some(u)) => (cell.tag, cell.payload) = (4, u),
                _ => (cell.tag, cell.payload) = (5, n.as_f64().unwrap_or_default().to_bits()),
            },
            Value::String(text) => {
                cell.tag = 6;
                put(&mut heap, &mut cell, &text);
            }
            Value::Array(elements) => {
                (cell.tag, cell.len, cell.payload) = (7, elements.len() as u32, cells.len() as u64);
                cell.flags = if typed { TYPED } else { 0 };
                for element in elements {
                    queue.push_back((cells.len(), element, typed, false));
                    cells.push(Cell { tag: 1, flags: 0, len: 0, payload: 0 });
                }
            }
            Value::Object(entries) => {
                cell.tag = if typed && !go_map { 9 } else { 8 };
                (cell.len, cell.payload) = (entries.len() as u32, cells.len() as u64);
                cell.flags = if typed { TYPED } else { 0 };
                for (key, value) in entries {
                    let mut key_cell = Cell { tag: 6, flags: 0, len: 0, payload: 0 };
                    put(&mut heap, &mut key_cell, &key);
                    cells.push(key_cell);
                    queue.push_back((cells.len(), value, typed, GO_MAPS.contains(&key.as_str())));
                    cells.push(Cell { tag: 1, flags: 0, len: 0, payload: 0 });
                }
            }
        }
        cells[at] = cell;
    }
    let mut out = b"CGR1".to_vec();
    for size in [cells.len(), heap.len(), roots.len()] {
        out.extend((size as u32).to_le_bytes());
    }
    for cell in &cells {
        out.extend([cell.tag, cell.flags, 0, 0]);
        out.extend(cell.len.to_le_bytes());
        out.extend(cell.payload.to_le_bytes());
    }
    out.extend(heap);
    out
}

fn put(heap: &mut Vec<u8>, cell: &mut Cell, text: &str) {
    (cell.len, cell.payload) = (text.len() as u32, heap.len() as u64);
    heap.extend(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_follow_their_parents() {
        let record = encode(&[Root::Absent, Root::Plain(serde_json::json!({"a": [1, "xy"], "b": null}))]);
        assert_eq!(&record[..4], b"CGR1");
        // 2 roots, 4 cells of the map, 2 of the list; "a", "b", "xy"
        assert_eq!(record[4..16], [8, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0]);
        assert_eq!(record.len(), 16 + 8 * 16 + 4);
        // The map's cell: tag 8, 2 entries from cell 2.
        assert_eq!(record[32..48], [8, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
    }
}
