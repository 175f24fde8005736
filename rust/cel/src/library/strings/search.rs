//! Finding positions, and taking parts by position.

use super::no_such_overload;
use crate::context::EvalContext;
use crate::mutants::{Mutant, planted};
use crate::ops::size::code_points;
use crate::value::Value;

/// The byte offset of a code point; `None` past the end. The end itself has an offset.
fn offset_of(text: &str, position: i64) -> Option<usize> {
    let position = usize::try_from(position).ok()?;
    if text.is_ascii() {
        return (position <= text.len()).then_some(position);
    }
    text.char_indices().map(|(offset, _)| offset).chain([text.len()]).nth(position)
}

fn out_of_range<'a>(ctx: &EvalContext<'a>, index: i64) -> Value<'a> {
    ctx.errorf(format_args!("index out of range: {index}"))
}

pub(super) fn char_at<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let [Value::String(text), Value::Int(index)] = args else {
        return no_such_overload(ctx);
    };
    let Some(rest) = offset_of(text, *index).and_then(|offset| text.get(offset..)) else {
        return out_of_range(ctx, *index);
    };
    if rest.is_empty() && planted(Mutant::CharAtEndFails) {
        return out_of_range(ctx, *index);
    }
    let len = rest.chars().next().map_or(0, char::len_utf8);
    Value::String(rest.get(..len).unwrap_or(""))
}

pub(super) fn substring<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let (text, start, end) = match args {
        [Value::String(text), Value::Int(start)] => (*text, *start, None),
        [Value::String(text), Value::Int(start), Value::Int(end)] => (*text, *start, Some(*end)),
        _ => return no_such_overload(ctx),
    };
    if let Some(end) = end
        && start > end
    {
        return ctx.errorf(format_args!("invalid substring range. start: {start}, end: {end}"));
    }
    let Some(from) = offset_of(text, start) else {
        return out_of_range(ctx, start);
    };
    let to = match end {
        None => text.len(),
        Some(end) => match offset_of(text, end + i64::from(planted(Mutant::SubstringEndIncluded))) {
            Some(to) => to,
            None => return out_of_range(ctx, end),
        },
    };
    Value::String(text.get(from..to).unwrap_or(""))
}

fn position(text: &str, offset: Option<usize>) -> Value<'_> {
    let before = offset.and_then(|offset| text.get(..offset));
    Value::Int(before.and_then(|before| i64::try_from(code_points(before)).ok()).unwrap_or(-1))
}

pub(super) fn index_of<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let (text, part, from) = match args {
        [Value::String(text), Value::String(part)] => (*text, *part, 0),
        [Value::String(text), Value::String(part), Value::Int(from)] => (*text, *part, *from),
        _ => return no_such_overload(ctx),
    };
    if from < 0 {
        return out_of_range(ctx, from);
    }
    let start = offset_of(text, from);
    if part.is_empty() && planted(Mutant::IndexOfEmptyIsZero) {
        return Value::Int(0);
    }
    if part.is_empty() {
        return if start.is_some() { Value::Int(from) } else { position(text, Some(text.len())) };
    }
    let found = start.and_then(|start| text.get(start..)?.find(part).map(|at| start + at));
    position(text, found)
}

pub(super) fn last_index_of<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let (text, part, from) = match args {
        [Value::String(text), Value::String(part)] => {
            return position(text, text.rfind(part));
        }
        [Value::String(text), Value::String(part), Value::Int(from)] => (*text, *part, *from),
        _ => return no_such_overload(ctx),
    };
    if from < 0 {
        return out_of_range(ctx, from);
    }
    let start = offset_of(text, from);
    if part.is_empty() {
        return if start.is_some() { Value::Int(from) } else { position(text, Some(text.len())) };
    }
    // From the end on there is nothing to find, not even what begins earlier.
    let Some(start) = start.filter(|start| *start < text.len() || planted(Mutant::LastIndexOfFromEnd)) else {
        return Value::Int(-1);
    };
    let length = i64::try_from(code_points(part)).unwrap_or(i64::MAX);
    let rest = text.get(start..).unwrap_or("");
    let end = offset_of(rest, length).map_or(text.len(), |end| start + end);
    position(text, text.get(..end).and_then(|text| text.rfind(part)))
}
