//! Authorization checks: the questions of the authz library (`celgate_k8s::authz`) become questions to the caller.

use std::cell::RefCell;
use std::fmt::Write as _;

use celgate_cel::context::{EvalContext, Host, Question};
use celgate_cel::value::Value;
use celgate_k8s::authz::QUESTION;

use crate::answers::{Answer, Answers, Ask, Authorization, Decision, Pending, json_field};
use crate::request::Unanswered;

/// Answers checks from what the caller has answered; what it has not becomes pending.
#[derive(Clone, Copy)]
pub(crate) struct Authorizer<'a> {
    pub(crate) answers: &'a Answers,
    pub(crate) pending: &'a RefCell<Pending>,
}

impl<'a> Host<'a> for Authorizer<'a> {
    fn ask(&self, ctx: &EvalContext<'a>, question: &Question<'a>) -> Option<Value<'a>> {
        if question.kind != QUESTION {
            return Some(ctx.error("unknown question"));
        }
        let Some(fields) = fields(question.parts) else {
            return Some(ctx.error("malformed authorization check"));
        };
        match self.answer(Ask::Authorize, &fields) {
            Ok(Answer::Authorize(authorization)) => Some(value(ctx, authorization)),
            _ => None,
        }
    }
}

impl<'a> Authorizer<'a> {
    /// What the caller has answered; without an answer, the question becomes pending.
    pub(crate) fn answer(&self, ask: Ask, fields: &str) -> Result<&'a Answer, Unanswered> {
        self.answers.get(ask, fields).ok_or_else(|| {
            self.pending.borrow_mut().ask(ask, fields);
            Unanswered
        })
    }
}

/// The answer as the library wants it: decision as upstream numbers it, reason, error or null.
fn value<'a>(ctx: &EvalContext<'a>, authorization: &'a Authorization) -> Value<'a> {
    let decision = match authorization.decision {
        Decision::Deny => 0,
        Decision::Allow => 1,
        Decision::NoOpinion => 2,
    };
    let error = authorization.error.as_deref().map_or(Value::Null, Value::String);
    Value::List(ctx.arena.alloc([Value::Int(decision), Value::String(&authorization.reason), error]))
}

/// The question's fields as JSON, without braces; `None` if its parts are not those of a check.
fn fields(parts: &[Value<'_>]) -> Option<String> {
    let text = |value: &Value<'_>| match value {
        Value::String(text) => Some((*text).to_owned()),
        _ => None,
    };
    let [Value::String(kind), namespace, name, rest @ ..] = parts else { return None };
    let mut out = String::new();
    if let (Some(namespace), Some(name)) = (text(namespace), text(name)) {
        let mut account = String::new();
        json_field(&mut account, "namespace", &namespace);
        json_field(&mut account, "name", &name);
        // Writing to a String cannot fail.
        let _ = write!(out, "\"serviceAccount\":{{{account}}}");
    }
    let names: &[&str] = match *kind {
        "path" => &["verb", "path"],
        "resource" => {
            &["verb", "group", "resource", "subresource", "namespace", "name", "fieldSelector", "labelSelector"]
        }
        _ => return None,
    };
    if rest.len() != names.len() {
        return None;
    }
    for (field, part) in names.iter().zip(rest) {
        json_field(&mut out, field, &text(part)?);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use bumpalo::Bump;
    use celgate_testkit::wire::answers as wire;

    use super::*;

    /// What the host says, as (decision, reason).
    fn ask(answers: &Answers, pending: &RefCell<Pending>) -> Option<(i64, String)> {
        let arena = Bump::new();
        let s = Value::String;
        let parts = [s("path"), s("ns"), s("sa"), s("get"), s("/x")];
        let host = arena.alloc(Authorizer { answers, pending });
        let ctx = EvalContext::new(&arena, host, 1);
        match host.ask(&ctx, &Question { kind: QUESTION, parts: &parts })? {
            Value::List([Value::Int(decision), Value::String(reason), Value::Null]) => {
                Some((*decision, (*reason).to_owned()))
            }
            _ => Some((-1, String::new())),
        }
    }

    #[test]
    fn asks_once_and_answers_from_then_on() {
        let pending = RefCell::new(Pending::default());
        let mut answers = Answers::default();
        for _ in 0..2 {
            assert!(ask(&answers, &pending).is_none());
        }
        let mut out = Vec::new();
        pending.borrow().write(&mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            r#"[{"id":0,"kind":"authorize","serviceAccount":{"namespace":"ns","name":"sa"},"verb":"get","path":"/x"}]"#
        );
        let answer = br#"{"decision":"noOpinion","reason":"r","error":null}"#.to_vec();
        answers.take(&mut pending.borrow_mut(), &wire(&[(0, 0, answer)])).unwrap();
        assert_eq!(ask(&answers, &pending), Some((2, "r".to_owned())));
    }

    #[test]
    fn a_resource_check_has_all_its_fields() {
        let s = Value::String;
        let parts = [
            s("resource"),
            Value::Null,
            Value::Null,
            s("v"),
            s("g"),
            s("r"),
            s("sub"),
            s("ns"),
            s("n"),
            s("f=1"),
            s("l=1"),
        ];
        assert_eq!(
            fields(&parts).unwrap(),
            r#""verb":"v","group":"g","resource":"r","subresource":"sub","namespace":"ns","name":"n","fieldSelector":"f=1","labelSelector":"l=1""#
        );
        assert!(fields(&parts[..4]).is_none());
    }
}
