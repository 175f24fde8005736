//! Reads reports (docs/abi.md) into lines that tests can compare.

/// Each entry of a report as one line, such as `decision 0/1 expression 0 deny denied Invalid: text`.
pub fn lines(report: &[u8]) -> Vec<String> {
    let mut reader = Reader(report);
    let mut lines = Vec::new();
    while !reader.0.is_empty() {
        let kind = reader.number();
        let (hook, binding) = (reader.number(), reader.number());
        let at = if binding == u32::MAX { format!("{hook}/-") } else { format!("{hook}/{binding}") };
        lines.push(match kind {
            1 => {
                let (expression, action, evaluation) = (reader.number(), reader.number(), reader.number());
                let (reason, message) = (reader.text(), reader.text());
                let action = ["admit", "deny"][action as usize];
                let evaluation = ["", "error", "denied"][evaluation as usize];
                format!("decision {at} expression {expression} {action} {evaluation} {reason}: {message}")
            }
            2 => format!("annotation {at} {}={}", reader.text(), reader.text()),
            3 => format!("annotation {at} {} failed: {}", reader.text(), reader.text()),
            4 => format!("configuration {at}: {}", reader.text()),
            5 => {
                let outcome = ["excluded", "failed", "failed and ignored"][reader.number() as usize];
                format!("conditions {at} {outcome}, {} errors, observed {}", reader.number(), reader.number())
            }
            6 => format!("namespace {at}"),
            7 => format!("call {at} match {}", reader.number()),
            8 => format!("not converted {at} match {}", reader.number()),
            other => panic!("unknown entry {other}"),
        });
    }
    lines
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn number(&mut self) -> u32 {
        let (head, tail) = self.0.split_at(4);
        self.0 = tail;
        u32::from_le_bytes(head.try_into().unwrap_or_default())
    }

    fn text(&mut self) -> &'a str {
        let len = self.number() as usize;
        let (head, tail) = self.0.split_at(len);
        self.0 = tail;
        std::str::from_utf8(head).unwrap_or("not UTF-8")
    }
}
