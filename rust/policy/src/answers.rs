//! What the core cannot know by itself: questions to the caller, and the answers it gave (docs/abi.md, "Questions and answers").

use std::fmt::Write as _;
use std::sync::Arc;

use celgate_cel::record::OwnedRecord;
use serde::Deserialize;

use crate::InvalidRequest;
use crate::params::Param;
use crate::reader::Reader;

/// An answer to a question.
#[derive(Debug)]
pub(crate) enum Answer {
    Authorize(Authorization),
    /// The param, `None` when there is none, or why it could not be fetched.
    Param(Result<Option<Arc<Param>>, String>),
    /// The param set has synced and is given, or has not synced in time.
    ParamSync,
    /// Namespace object and labels, or why they could not be fetched.
    Namespace(Result<OwnedRecord, String>),
}

/// What an authorizer said.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Authorization {
    pub(crate) decision: Decision,
    #[serde(default)]
    pub(crate) reason: String,
    #[serde(default)]
    pub(crate) error: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Decision {
    Allow,
    Deny,
    NoOpinion,
}

/// The kind of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    Authorize,
    Param,
    ParamSync,
    Namespace,
}

impl Ask {
    fn name(self) -> &'static str {
        match self {
            Ask::Authorize => "authorize",
            Ask::Param => "param",
            Ask::ParamSync => "paramSync",
            Ask::Namespace => "namespace",
        }
    }
}

#[derive(Debug)]
struct Question {
    id: u32,
    ask: Ask,
    /// The question's fields as JSON, without braces; also what makes two questions the same.
    fields: String,
}

/// The answers of one request so far.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    answered: Vec<(Question, Answer)>,
    /// Why the request's context has ended, if it has.
    ended: Option<String>,
}

/// The id of what is told without being asked: that the request's context has ended.
const ENDED: u32 = u32::MAX;

/// The questions that evaluation has stopped at.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    questions: Vec<Question>,
    next: u32,
}

impl Answers {
    pub(crate) fn get(&self, ask: Ask, fields: &str) -> Option<&Answer> {
        self.answered
            .iter()
            .find(|(question, _)| question.ask == ask && question.fields == fields)
            .map(|(_, answer)| answer)
    }

    pub(crate) fn clear(&mut self) {
        self.answered.clear();
        self.ended = None;
    }

    /// Why the request's context has ended, if it has.
    pub(crate) fn ended(&self) -> Option<&str> {
        self.ended.as_deref()
    }

    /// Takes the caller's answers to pending questions. Questions that stay unanswered are asked again if they still matter.
    pub(crate) fn take(&mut self, pending: &mut Pending, bytes: &[u8]) -> Result<(), InvalidRequest> {
        if bytes.is_empty() {
            pending.questions.clear();
            return Ok(());
        }
        let malformed = || InvalidRequest::new("answers end early");
        let mut reader = Reader::new(bytes);
        for _ in 0..reader.number().ok_or_else(malformed)? {
            let (id, status) = (reader.number().ok_or_else(malformed)?, reader.number().ok_or_else(malformed)?);
            let content = reader.bytes().ok_or_else(malformed)?;
            if id == ENDED {
                self.ended = Some(String::from_utf8_lossy(content).into_owned());
                continue;
            }
            let question = pending.questions.iter().position(|question| question.id == id);
            let question = question.ok_or_else(|| InvalidRequest::new(format!("answer {id} has no question")))?;
            let question = pending.questions.swap_remove(question);
            let answer = decode(question.ask, status, content)
                .map_err(|error| InvalidRequest::new(format!("answer {id} ({}): {error}", question.ask.name())))?;
            self.answered.push((question, answer));
        }
        if !reader.is_empty() {
            return Err(InvalidRequest::new("answers have bytes after the last one"));
        }
        pending.questions.clear();
        Ok(())
    }
}

impl Pending {
    /// Notes a question, once.
    pub(crate) fn ask(&mut self, ask: Ask, fields: &str) {
        if self.questions.iter().any(|question| question.ask == ask && question.fields == fields) {
            return;
        }
        self.questions.push(Question { id: self.next, ask, fields: fields.to_owned() });
        self.next += 1;
    }

    pub(crate) fn clear(&mut self) {
        *self = Pending::default();
    }

    /// Writes the questions as JSON.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let mut text = String::from("[");
        for (i, question) in self.questions.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            // Writing to a String cannot fail.
            let _ = write!(text, "{comma}{{\"id\":{},\"kind\":\"{}\"", question.id, question.ask.name());
            if !question.fields.is_empty() {
                let _ = write!(text, ",{}", question.fields);
            }
            text.push('}');
        }
        text.push(']');
        out.clear();
        out.extend_from_slice(text.as_bytes());
    }
}

fn decode(ask: Ask, status: u32, content: &[u8]) -> Result<Answer, String> {
    let text = || String::from_utf8_lossy(content).into_owned();
    Ok(match (ask, status) {
        (Ask::Authorize, 0) => Answer::Authorize(serde_json::from_slice(content).map_err(|error| error.to_string())?),
        (Ask::Param, 0) => Answer::Param(Ok(Some(Arc::new(Param::parse(content)?)))),
        (Ask::Param, 1) => Answer::Param(Ok(None)),
        (Ask::Param, 2) => Answer::Param(Err(text())),
        (Ask::ParamSync, 0 | 2) => Answer::ParamSync,
        (Ask::Namespace, 0) => {
            let record = OwnedRecord::parse(content).map_err(|error| format!("{error:?}"))?;
            if record.as_record().roots() != 2 {
                return Err("not two roots".to_owned());
            }
            Answer::Namespace(Ok(record))
        }
        (Ask::Namespace, 2) => Answer::Namespace(Err(text())),
        (_, status) => return Err(format!("unknown status {status}")),
    })
}

/// `"name":"value"` with JSON's escapes.
pub(crate) fn json_field(out: &mut String, name: &str, value: &str) {
    if !out.is_empty() {
        out.push(',');
    }
    let value = serde_json::Value::from(value);
    let _ = write!(out, "\"{name}\":{value}");
}

#[cfg(test)]
mod tests {
    use celgate_testkit::wire::answers;

    use super::*;

    #[test]
    fn questions_and_answers_meet_by_id() {
        let (mut answered, mut pending) = (Answers::default(), Pending::default());
        let mut fields = String::from("\"params\":3");
        json_field(&mut fields, "name", "a\"b");
        pending.ask(Ask::Param, &fields);
        pending.ask(Ask::Param, &fields);
        pending.ask(Ask::Namespace, "");
        let mut out = Vec::new();
        pending.write(&mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            r#"[{"id":0,"kind":"param","params":3,"name":"a\"b"},{"id":1,"kind":"namespace"}]"#
        );
        answered.take(&mut pending, &answers(&[(1, 2, b"gone".to_vec()), (0, 1, Vec::new())])).unwrap();
        assert!(matches!(answered.get(Ask::Param, &fields), Some(Answer::Param(Ok(None)))));
        assert!(matches!(answered.get(Ask::Namespace, ""), Some(Answer::Namespace(Err(text))) if text == "gone"));
        assert!(answered.get(Ask::Param, "").is_none());
    }

    #[test]
    fn the_end_of_a_request_is_told_unasked() {
        let (mut answered, mut pending) = (Answers::default(), Pending::default());
        assert_eq!(answered.ended(), None);
        answered.take(&mut pending, &answers(&[(u32::MAX, 2, b"context canceled".to_vec())])).unwrap();
        answered.take(&mut pending, &[]).unwrap();
        assert_eq!(answered.ended(), Some("context canceled"));
        answered.clear();
        assert_eq!(answered.ended(), None);
    }

    #[test]
    fn malformed_answers_are_refused() {
        for (ask, status, content) in
            [(Ask::Authorize, 0, &b"{}"[..]), (Ask::Param, 0, b"x"), (Ask::Param, 7, b""), (Ask::Namespace, 0, b"")]
        {
            let (mut answered, mut pending) = (Answers::default(), Pending::default());
            pending.ask(ask, "");
            assert!(answered.take(&mut pending, &answers(&[(0, status, content.to_vec())])).is_err(), "{ask:?}");
        }
        let (mut answered, mut pending) = (Answers::default(), Pending::default());
        assert!(answered.take(&mut pending, &answers(&[(0, 0, Vec::new())])).is_err());
        assert!(answered.take(&mut pending, &[1]).is_err());
    }
}
