//! Bytes as the choices of a grammar that makes well-formed expressions, evaluated as [`crate::evaluator`] does.

use crate::evaluator::evaluate;

/// What the bytes choose, evaluated.
pub fn run(data: &[u8]) {
    evaluate(&expression(data), None);
}

/// The expression that the bytes stand for.
pub fn expression(data: &[u8]) -> String {
    let mut choices = Choices { data: data.iter(), out: String::new(), depth: 0 };
    choices.write(ANY);
    choices.out
}

/// Deeper than this only leaves are chosen.
const MAX_DEPTH: usize = 7;
/// Longer than this only leaves are chosen.
const MAX_BYTES: usize = 2_000;

/// Templates of one kind of expression. The first half and more of each are leaves; capitals in braces stand for a kind.
type Kind = &'static [&'static str];

const ANY: Kind = &[
    "null",
    "v",
    "i",
    "object",
    "oldObject",
    "params",
    "1.5",
    "1u",
    "b'a'",
    "unbound",
    "int",
    "texts",
    "numbers",
    "{B}",
    "{I}",
    "{S}",
    "{L}",
    "{M}",
    "{O}",
    "{T}",
    "dyn({A})",
    "{M}[{A}]",
    "{L}[{I}]",
    "{O}.orValue({A})",
    "{O}.value()",
    "{A}.{F}",
    "{B} ? {A} : {A}",
    "type({A})",
    "({A} + {A})",
    "({A} - {A})",
    "{Q}",
    "{A}.{F}.{F}",
];
const BOOL: Kind = &[
    "true",
    "false",
    "has(object.spec)",
    "has(v.a)",
    "({A} == {A})",
    "({A} != {A})",
    "({A} < {A})",
    "({A} >= {A})",
    "!{B}",
    "({B} && {B})",
    "({B} || {B})",
    "({A} in {L})",
    "({A} in {M})",
    "has({M}.{F})",
    "{L}.all(v, {B})",
    "{L}.exists(v, {B})",
    "{L}.exists_one(i, {B})",
    "{L}.all(i, v, {B})",
    "{M}.exists(i, v, {B})",
    "{M}.all(i, {B})",
    "{S}.startsWith({S})",
    "{S}.endsWith({S})",
    "{S}.contains({S})",
    "{S}.matches({R})",
    "sets.contains({L}, {L})",
    "sets.intersects({L}, {L})",
    "sets.equivalent({L}, {L})",
    "{O}.hasValue()",
    "isQuantity({S})",
    "isIP({S})",
    "isCIDR({S})",
    "isURL({S})",
    "isSemver({S})",
    "cidr({S}).containsIP({S})",
    "cidr({S}).containsCIDR({S})",
    "ip({S}).isGlobalUnicast()",
    "{Q}.isLessThan({Q})",
    "{Q}.isInteger()",
    "{L}.isSorted()",
    "semver({S}).isLessThan(semver({S}))",
    "bool({A})",
    "format.dns1123Label().validate({S}).hasValue()",
    "{T} < {T}",
];
const INT: Kind = &[
    "0",
    "1",
    "-1",
    "7",
    "9223372036854775807",
    "i",
    "numbers[2]",
    "size({L})",
    "{S}.size()",
    "({I} + {I})",
    "({I} - {I})",
    "({I} * {I})",
    "({I} / {I})",
    "({I} % {I})",
    "-({I})",
    "int({A})",
    "{L}.sum()",
    "{L}.indexOf({A})",
    "{S}.indexOf({S})",
    "{S}.lastIndexOf({S}, {I})",
    "{L}.min()",
    "{L}.max()",
    "{Q}.asInteger()",
    "sign({Q})",
    "{Q}.compareTo({Q})",
    "{M}.size()",
    "{T}.getFullYear('America/New_York')",
    "duration({S}).getSeconds()",
    "ip({S}).family()",
    "cidr({S}).prefixLength()",
    "semver({S}).major()",
    "{L}.lastIndexOf({A})",
];
const STRING: Kind = &[
    "''",
    "'a'",
    "'é😀'",
    "texts[2]",
    "'1Gi'",
    "'10.0.0.0/8'",
    "object.b",
    "v",
    "({S} + {S})",
    "string({A})",
    "{S}.replace({S}, {S})",
    "{S}.replace({S}, {S}, {I})",
    "{S}.substring({I})",
    "{S}.substring({I}, {I})",
    "{S}.lowerAscii()",
    "{S}.upperAscii()",
    "{S}.trim()",
    "{S}.charAt({I})",
    "{L}.join({S})",
    "{S}.format([{A}, {A}])",
    "'%s %d'.format([{A}, {I}])",
    "strings.quote({S})",
    "{S}.find({R})",
    "url({S}).getHost()",
    "url({S}).getEscapedPath()",
    "string(ip({S}))",
    "string(cidr({S}).masked())",
    "string({B} ? {A} : {S})",
];
const REGEX: Kind = &["'a'", "'^(a|b)*$'", "'[^a-z]+'", "'(?i)é?'", "'\\\\d{2,3}'", "v", "'('", "'.'", "{S}"];
const LIST: Kind = &[
    "[]",
    "[1, 2, 3]",
    "[1, 'a', null]",
    "texts",
    "numbers",
    "object.c",
    "object.spec.containers",
    "v",
    "[{A}]",
    "[{A}, {A}]",
    "[?{O}, {A}]",
    "({L} + {L})",
    "{L}.map(v, {A})",
    "{L}.map(v, {B}, {A})",
    "{L}.filter(v, {B})",
    "{M}.map(i, {A})",
    "{L}.transformList(i, v, {A})",
    "{M}.transformList(i, v, {B}, {A})",
    "{S}.split({S})",
    "{S}.split({S}, {I})",
    "{L}.sort()",
    "{L}.sortBy(v, {A})",
    "{L}.flatten()",
    "{L}.flatten({I})",
    "{L}.slice({I}, {I})",
    "{L}.reverse()",
    "{L}.distinct()",
    "lists.range({I})",
    "{S}.findAll({R})",
    "{S}.findAll({R}, {I})",
    "url({S}).getQuery()",
    "optional.unwrap({L})",
    "{L}.unwrapOpt()",
];
const MAP: Kind = &[
    "{}",
    "{'a': 1, 'b': [2]}",
    "object",
    "oldObject",
    "object.metadata.labels",
    "params",
    "v",
    "{{A}: {A}}",
    "{'a': {A}, 'b': {A}}",
    "{?'a': {O}}",
    "{{S}: {A}, {S}: {A}}",
    "{L}.transformMap(i, v, {A})",
    "{M}.transformMap(i, v, {A})",
    "{M}.transformMapEntry(i, v, {{S}: {A}})",
    "{M}.transformMap(i, v, {B}, {A})",
    "{M}.{F}",
    "url({S}).getQuery()",
];
const OPTIONAL: Kind = &[
    "optional.none()",
    "optional.of(1)",
    "object.?spec.replicas",
    "v.?a",
    "optional.of({A})",
    "optional.ofNonZeroValue({A})",
    "{M}.?{F}",
    "{M}[?{A}]",
    "{L}[?{I}]",
    "{O}.optMap(v, {A})",
    "{O}.optFlatMap(v, {O})",
    "{O}.or({O})",
    "{O}.?{F}",
    "{O}.{F}",
    "{O}[?{A}]",
    "{L}.first()",
    "{L}.last()",
];
const TIME: Kind = &[
    "timestamp('2024-01-02T03:04:05Z')",
    "duration('1h')",
    "timestamp({S})",
    "duration({S})",
    "({T} + {T})",
    "({T} - {T})",
    "timestamp({I})",
];
const QUANTITY: Kind = &[
    "quantity('1Gi')",
    "quantity('-1.5m')",
    "quantity({S})",
    "{Q}.add({Q})",
    "{Q}.sub({Q})",
    "{Q}.add({I})",
    "{Q}.sub({I})",
];
const FIELD: Kind = &["a", "b", "c", "d", "e", "spec", "metadata", "labels", "app", "nope", "containers", "`a-b`"];

struct Choices<'d> {
    data: std::slice::Iter<'d, u8>,
    out: String,
    depth: usize,
}

impl Choices<'_> {
    fn write(&mut self, kind: Kind) {
        let choice = usize::from(self.data.next().copied().unwrap_or(0));
        let leaves = kind.iter().take_while(|template| !template.contains("{")).count().max(1);
        let leaf = self.depth >= MAX_DEPTH || self.out.len() >= MAX_BYTES;
        let among = if leaf { leaves } else { kind.len() };
        let Some(template) = kind.get(choice % among) else { return };
        self.depth += 1;
        self.expand(template);
        self.depth -= 1;
    }

    fn expand(&mut self, template: &'static str) {
        let mut rest = template;
        while let Some(at) = rest.find('{') {
            let (before, hole) = rest.split_at(at);
            self.out.push_str(before);
            let kind = match hole.get(1..3) {
                Some("A}") => ANY,
                Some("B}") => BOOL,
                Some("I}") => INT,
                Some("S}") => STRING,
                Some("R}") => REGEX,
                Some("L}") => LIST,
                Some("M}") => MAP,
                Some("O}") => OPTIONAL,
                Some("T}") => TIME,
                Some("Q}") => QUANTITY,
                Some("F}") => FIELD,
                _ => {
                    self.out.push('{');
                    rest = hole.get(1..).unwrap_or_default();
                    continue;
                }
            };
            self.write(kind);
            rest = hole.get(3..).unwrap_or_default();
        }
        self.out.push_str(rest);
    }
}
