//! The checks written by hand (`limit`) decide as the engine does: otherwise their time would be no limit for it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod common;
mod limit;

use std::collections::BTreeMap;
use std::path::Path;

use bumpalo::Bump;
use celgate_cel::context::{EvalContext, NoHost};
use celgate_cel::record::Record;
use celgate_cel::value::Value;
use celgate_policy::{Outcome, Plan, Scratch};
use celgate_testkit::report::lines;
use celgate_testkit::request::Request;
use celgate_testkit::wire;
use limit::engine::Expressions;
use limit::read::{Check, Error};
use limit::{CASES, Case, File, OBJECT};
use serde_json::{Value as Json, json};

/// Changed objects for each of the policy's own, and for each of all others.
const CHANGED: (usize, usize) = (200, 4);

#[test]
fn checks_by_hand_decide_as_the_engine() {
    let Some(corpus) = limit::corpus() else { return };
    let objects = objects(&corpus);
    for case in &CASES {
        let file = case.file(&corpus);
        let engine = Engine::new(&file);
        let mut random = Random(1);
        let texts = texts(&file);
        let mut seen = BTreeMap::new();
        let measured = case.object();
        let own = file.objects.iter().chain([&measured]).map(|object| (object, CHANGED.0));
        for (object, changed) in own.chain(objects.iter().map(|object| (object, CHANGED.1))) {
            for round in 0..=changed {
                let (mut object, mut params) = (object.clone(), file.params.clone());
                (0..round % 8).for_each(|_| random.change(&mut object, &texts));
                if round % 8 == 7 {
                    random.change(&mut params, &texts);
                }
                let expected = engine.agree(case, &object, &params);
                *seen.entry(format!("{expected:?}")).or_insert(0) += 1;
            }
        }
        println!("{}: {seen:?}", case.name);
        assert!(seen.len() == 3 && seen.values().all(|&times| times >= 20), "{}: {seen:?}", case.name);
    }
}

/// The measured object passes: what allows takes longest.
#[test]
fn measured_objects_pass() {
    let Some(corpus) = limit::corpus() else { return };
    for case in &CASES {
        let file = case.file(&corpus);
        assert_eq!(Engine::new(&file).agree(case, &case.object(), &file.params), Ok(true), "{}", case.name);
    }
}

/// All objects of the corpus.
fn objects(corpus: &Path) -> Vec<Json> {
    let directories = ["kubescape", "pod-security-standards"].map(|library| corpus.join(library));
    let files = directories.iter().flat_map(|directory| std::fs::read_dir(directory).unwrap());
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().flat_map(|path| File::read(path).objects).collect()
}

/// A policy in a plan, and its expressions alone.
struct Engine {
    plan: Plan,
    expressions: Expressions,
}

impl Engine {
    fn new(file: &File) -> Engine {
        Engine { plan: file.plan(), expressions: Expressions::new(&file.spec) }
    }

    /// What the plan decides, which must be what its expressions alone and the check by hand come to.
    fn agree(&self, case: &Case, object: &Json, params: &Json) -> Check {
        let request = Request::create(object.clone()).encode();
        let expected = self.decide(&request, params);
        let record = Record::parse(&request).unwrap();
        let param_bytes = wire::param(params);
        let param_record = Record::parse(&param_bytes).unwrap();
        let [object_value, params_value] =
            [(&record, OBJECT), (&param_record, 0)].map(|(record, root)| record.root(root).unwrap_or(Value::Null));
        let arena = Bump::new();
        let ctx = EvalContext::new(&arena, &NoHost, u64::MAX);
        let (alone, _) = self.expressions.evaluate(&ctx, object_value, params_value);
        let by_hand = (case.check)(object_value, params_value);
        assert_eq!((alone, by_hand), (expected, expected), "{}: {object}\nwith {params}", case.name);
        expected
    }

    fn decide(&self, request: &[u8], params: &Json) -> Check {
        let set = limit::param_set(params);
        let mut scratch = Scratch::new();
        let outcome = self.plan.evaluate(&mut scratch, request, &[Some(&set)], &[]).unwrap();
        assert_eq!(outcome, Outcome::Done);
        let lines = lines(scratch.output());
        let decided = |line: &String| line.starts_with("decision 0/0 ");
        assert!(lines.iter().all(decided), "{lines:?}");
        match lines.iter().map(|line| line.contains(" deny denied ")).max() {
            None => Ok(true),
            Some(true) => Ok(false),
            Some(false) => Err(Error),
        }
    }
}

/// What strings are changed to: what the policy's expressions name, and what its objects have.
fn texts(file: &File) -> Vec<String> {
    let mut texts = vec![String::new(), "Always".to_owned(), "a/b:latest".to_owned(), "a/b:x".to_owned()];
    texts.extend(["127Mi", "0.25Gi", "1e9", "5Gi", "1.5", "200m", "-1", "x", "4Gi"].map(str::to_owned));
    for section in ["variables", "validations"] {
        for entry in file.spec[section].as_array().into_iter().flatten() {
            texts.extend(entry["expression"].as_str().unwrap().split(['\'', '"']).map(str::to_owned));
        }
    }
    let mut places: Vec<&Json> = file.objects.iter().collect();
    while let Some(place) = places.pop() {
        texts.extend(place.as_str().map(str::to_owned));
        places.extend(children(place));
    }
    texts.sort();
    texts.dedup();
    texts
}

/// The same numbers in each run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    /// Changes a value somewhere inside an object, to one that its Go type can have as well.
    fn change(&mut self, object: &mut Json, texts: &[String]) {
        let place = nth(object, self.below(nodes(object)));
        match place {
            Json::String(text) => text.clone_from(&texts[self.below(texts.len())]),
            Json::Bool(value) => *value = !*value,
            Json::Number(_) => *place = [0, 1, 22, 65_535][self.below(4)].into(),
            Json::Null => {}
            Json::Array(elements) if !elements.is_empty() && self.below(4) > 0 => {
                let chosen = self.below(elements.len());
                match self.below(2) {
                    0 => drop(elements.remove(chosen)),
                    _ => elements.push(elements[chosen].clone()),
                }
            }
            Json::Object(fields) if !fields.is_empty() && self.below(4) > 0 => {
                let name = fields.keys().nth(self.below(fields.len())).unwrap().clone();
                fields.remove(&name);
            }
            Json::Array(_) => *place = [json!([]), Json::Null][self.below(2)].take(),
            Json::Object(_) => *place = [json!({}), Json::Null][self.below(2)].take(),
        }
    }
}

fn children(value: &Json) -> Vec<&Json> {
    match value {
        Json::Array(elements) => elements.iter().collect(),
        Json::Object(fields) => fields.values().collect(),
        _ => Vec::new(),
    }
}

/// How many values there are, this and those inside.
fn nodes(value: &Json) -> usize {
    1 + children(value).into_iter().map(nodes).sum::<usize>()
}

/// The value that comes at `index` among them.
fn nth(value: &mut Json, index: usize) -> &mut Json {
    let Some(mut left) = index.checked_sub(1) else { return value };
    let children: Vec<&mut Json> = match value {
        Json::Array(elements) => elements.iter_mut().collect(),
        Json::Object(fields) => fields.values_mut().collect(),
        _ => Vec::new(),
    };
    for child in children {
        let size = nodes(child);
        if left < size {
            return nth(child, left);
        }
        left -= size;
    }
    panic!("there are fewer values")
}
