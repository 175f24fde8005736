use super::*;

/// Assembles records for tests.
#[derive(Default)]
struct Builder {
    cells: Vec<[u8; CELL]>,
    heap: String,
}

impl Builder {
    fn cell(&mut self, tag: Tag, flags: u8, len: u32, payload: u64) {
        let mut cell = [0; CELL];
        cell[0] = tag as u8;
        cell[1] = flags;
        cell[4..8].copy_from_slice(&len.to_le_bytes());
        cell[8..].copy_from_slice(&payload.to_le_bytes());
        self.cells.push(cell);
    }

    fn text(&mut self, tag: Tag, text: &str) {
        let start = self.heap.len() as u64;
        self.heap.push_str(text);
        self.cell(tag, 0, text.len() as u32, start);
    }

    fn bytes(&self, roots: u32) -> Vec<u8> {
        let mut out = MAGIC.to_le_bytes().to_vec();
        out.extend((self.cells.len() as u32).to_le_bytes());
        out.extend((self.heap.len() as u32).to_le_bytes());
        out.extend(roots.to_le_bytes());
        out.extend(self.cells.iter().flatten());
        out.extend(self.heap.bytes());
        out
    }
}

fn sample() -> Vec<u8> {
    let mut b = Builder::default();
    b.cell(Tag::Struct, flags::TYPED, 3, 1);
    b.text(Tag::String, "b");
    b.cell(Tag::Int, 0, 0, -5i64 as u64);
    b.text(Tag::String, "a");
    b.cell(Tag::List, 0, 2, 7);
    b.text(Tag::String, "c");
    b.cell(Tag::Absent, 0, 0, 0);
    b.cell(Tag::Double, 0, 0, 1.5f64.to_bits());
    b.text(Tag::Error, "oops");
    b.bytes(1)
}

#[test]
fn reads_in_place() {
    let bytes = sample();
    let record = Record::parse(&bytes).unwrap();
    let Some(Value::Record(root)) = record.root(0) else { panic!("no root") };
    assert!(root.is_struct() && !root.is_list());
    assert_eq!(root.len(), 2);
    assert!(matches!(root.field("b"), Some(Value::Int(-5))));
    assert!(root.field("c").is_none() && root.field("d").is_none());
    let arena = Bump::new();
    assert_eq!(root.order(&arena), Some(&[1, 0][..]));
    let Some(Value::Record(list)) = root.field("a") else { panic!("no list") };
    assert!(matches!(list.element(0), Some(Value::Double(d)) if d == 1.5));
    assert!(matches!(list.element(1), Some(Value::Error(e)) if e.message == "oops"));
    assert!(list.element(2).is_none());
    assert!(record.root(1).is_none());
}

#[test]
fn rejects_what_is_no_record() {
    let good = sample();
    assert_eq!(Record::parse(&[]).err(), Some(RecordError::Truncated));
    assert_eq!(Record::parse(&good[..40]).err(), Some(RecordError::Truncated));
    let mut magic = good.clone();
    magic[0] = 0;
    assert_eq!(Record::parse(&magic).err(), Some(RecordError::Magic));
    let mut backwards = good.clone();
    backwards[16 + 8] = 0;
    assert_eq!(Record::parse(&backwards).err(), Some(RecordError::Cell));
    let mut outside = good.clone();
    outside[16 + 4] = 200;
    assert_eq!(Record::parse(&outside).err(), Some(RecordError::Cell));
}

/// Every byte of a record replaced by every of a few values: no panic, whatever is then read.
#[test]
fn survives_hostile_bytes() {
    let good = sample();
    for at in 0..good.len() {
        for byte in [0, 1, 7, 8, 9, 10, 127, 128, 255] {
            let mut bytes = good.clone();
            bytes[at] = byte;
            let Ok(record) = Record::parse(&bytes) else {
                continue;
            };
            for root in 0..record.roots().min(20) {
                if let Some(Value::Record(root)) = record.root(root) {
                    let arena = Bump::new();
                    let _ = (root.len(), root.order(&arena), root.field("a"), root.element(0), root.entry(1));
                }
            }
        }
    }
}
