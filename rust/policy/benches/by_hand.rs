//! How far the engine is from the same checks written by hand in Rust (`tests/limit`), over the same record: `make bench-by-hand`.
//!
//! `--out FILE` writes the table, with machine and commit. `--repeat SIDE POLICY COUNT` does nothing else than
//! evaluate one of the sides (`by-hand`, `expressions`, `request-by-hand`, `request`), for profilers.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/limit/mod.rs"]
mod limit;

use std::fmt::Write as _;
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use bumpalo::Bump;
use celgate_cel::context::{EvalContext, NoHost};
use celgate_cel::memo::Memo;
use celgate_cel::record::Record;
use celgate_cel::regex::Patterns;
use celgate_policy::{Outcome, ParamSet, Plan, Scratch};
use celgate_testkit::request::Request;
use celgate_testkit::wire;
use limit::engine::Expressions;
use limit::{CASES, Case, File, OBJECT};

const COST_LIMIT: u64 = 1_000_000;
/// Policies that share a context, as those of a request do.
const TOGETHER: u64 = 16;
/// Each side of a policy is measured so often, in turns with the others, and so long each time. The shortest time counts: all does the same
/// work each time, and what else the machine does only adds to it.
const ROUNDS: usize = 151;
const ROUND: Duration = Duration::from_millis(3);

/// Does one of the things that are measured so many times.
type Run = fn(&Subject, u64);

/// What is measured of a policy.
const SIDES: [(&str, Run); 4] = [
    ("by-hand", Subject::by_hand),
    ("expressions", Subject::expressions),
    ("request-by-hand", Subject::request_by_hand),
    ("request", Subject::request),
];

/// A policy with the request that it is measured on.
struct Subject {
    case: &'static Case,
    request: Vec<u8>,
    params: Vec<u8>,
    expressions: Expressions,
    plan: Plan,
    param_set: ParamSet,
}

impl Subject {
    fn new(case: &'static Case, file: &File) -> Subject {
        Subject {
            case,
            request: Request::create(case.object()).encode(),
            params: wire::param(&file.params),
            expressions: Expressions::new(&file.spec),
            plan: file.plan(),
            param_set: limit::param_set(&file.params),
        }
    }

    /// The check by hand over records that have been checked.
    fn by_hand(&self, count: u64) {
        let (record, params) = (Record::parse(&self.request).unwrap(), Record::parse(&self.params).unwrap());
        let object = record.root(OBJECT).unwrap();
        let params = params.root(0).unwrap();
        for _ in 0..count {
            assert_eq!((self.case.check)(black_box(object), black_box(params)), Ok(true));
        }
    }

    /// The policy's validations over the same records, cost counted. As in a request, no path of the object is known beforehand.
    fn expressions(&self, count: u64) {
        let (record, params) = (Record::parse(&self.request).unwrap(), Record::parse(&self.params).unwrap());
        let (mut arena, patterns, memo) = (Bump::new(), Patterns::default(), Memo::default());
        let mut left = count;
        while left > 0 {
            let together = left.min(TOGETHER);
            self.evaluate(&arena, &patterns, &memo, [&record, &params], together);
            arena.reset();
            left -= together;
        }
    }

    fn evaluate<'a>(
        &'a self,
        arena: &'a Bump,
        patterns: &'a Patterns,
        memo: &'a Memo,
        [record, params]: [&'a Record<'a>; 2],
        count: u64,
    ) {
        let ctx = EvalContext::new(arena, &NoHost, COST_LIMIT).keeping(patterns).remembering(memo, record);
        let (object, params) = (record.root(OBJECT).unwrap(), params.root(0).unwrap());
        for _ in 0..count {
            memo.begin();
            let (verdict, cost) = self.expressions.evaluate(&ctx, black_box(object), black_box(params));
            assert_eq!(verdict, Ok(true));
            black_box(cost);
        }
    }

    /// The check by hand over a request record as it comes.
    fn request_by_hand(&self, count: u64) {
        let params = Record::parse(&self.params).unwrap();
        let params = params.root(0).unwrap();
        for _ in 0..count {
            let record = Record::parse(black_box(&self.request)).unwrap();
            assert_eq!((self.case.check)(record.root(OBJECT).unwrap(), black_box(params)), Ok(true));
        }
    }

    /// The plan's whole decision over the same request.
    fn request(&self, count: u64) {
        let mut scratch = Scratch::new();
        for _ in 0..count {
            let outcome = self.plan.evaluate(&mut scratch, black_box(&self.request), &[Some(&self.param_set)], &[]);
            assert_eq!(outcome, Ok(Outcome::Done));
            assert!(scratch.output().is_empty(), "{} is denied", self.case.name);
            scratch.reset();
        }
    }
}

/// The shortest times of the sides of a policy, in nanoseconds.
struct Line {
    case: &'static Case,
    cost: u64,
    times: [f64; SIDES.len()],
}

impl Line {
    fn measure(subject: &Subject) -> Line {
        let counts = SIDES.map(|(_, run)| calibrate(subject, run));
        let mut times = [f64::INFINITY; SIDES.len()];
        for _ in 0..ROUNDS {
            for (((_, run), count), shortest) in SIDES.iter().zip(counts).zip(&mut times) {
                *shortest = shortest.min(timed(subject, *run, count));
            }
        }
        Line { case: subject.case, cost: subject.cost(), times }
    }

    /// How many times longer the engine takes: for its expressions, and for the whole request.
    fn factors(&self) -> [f64; 2] {
        let [by_hand, expressions, request_by_hand, request] = self.times;
        [expressions / by_hand, request / request_by_hand]
    }
}

impl Subject {
    fn cost(&self) -> u64 {
        let (record, params) = (Record::parse(&self.request).unwrap(), Record::parse(&self.params).unwrap());
        let arena = Bump::new();
        let ctx = EvalContext::new(&arena, &NoHost, COST_LIMIT);
        self.expressions.evaluate(&ctx, record.root(OBJECT).unwrap(), params.root(0).unwrap()).1
    }
}

fn timed(subject: &Subject, run: Run, count: u64) -> f64 {
    let start = Instant::now();
    run(subject, count);
    start.elapsed().as_nanos() as f64 / count as f64
}

/// How many runs take about a round.
fn calibrate(subject: &Subject, run: Run) -> u64 {
    let once = (0..5).map(|_| timed(subject, run, 500)).fold(f64::INFINITY, f64::min);
    (ROUND.as_nanos() as f64 / once) as u64 + 1
}

fn table(lines: &[Line]) -> String {
    let mut out = String::from(
        "| policy | what it shows | cost | by hand | expressions | factor | request by hand | request | factor |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for line in lines {
        let ([by_hand, expressions, request_by_hand, request], [factor, whole]) = (line.times, line.factors());
        let (name, Case { shape, .. }) = (line.case.name.rsplit('/').next().unwrap(), line.case);
        let _ = writeln!(
            out,
            "| {name} | {shape} | {} | {by_hand:.0} ns | {expressions:.0} ns | {factor:.1} | {request_by_hand:.0} ns | {request:.0} ns | {whole:.1} |",
            line.cost
        );
    }
    let mean = |which: usize| {
        let sum: f64 = lines.iter().map(|line| line.factors()[which].ln()).sum();
        (sum / lines.len() as f64).exp()
    };
    let _ = writeln!(out, "| geometric mean | | | | | {:.1} | | | {:.1} |", mean(0), mean(1));
    out
}

/// The text around the table.
fn report(table: &str) -> String {
    format!(
        "# The same checks written by hand\n\n\
         Made by `make bench-by-hand` {}.\n\n\
         What ten public policies check, written by hand in Rust over the same record (`rust/policy/tests/limit`), beside the engine; \
         `rust/policy/tests/by_hand.rs` shows that both decide the same about thousands of objects. *Expressions* are all validations and the \
         variables that they read, cost counted. *Request* is all that the core does about a request with this policy alone, its messages \
         included; by hand it is checking the record, and the check. The object is a Pod of 4 KiB, or a Deployment of it, and passes. \
         The shortest of {ROUNDS} rounds in turns, in one process.\n\n{table}",
        origin()
    )
}

/// Commit, date and machine, as other results have them.
fn origin() -> String {
    let output = |program: &str, args: &[&str]| {
        let output = Command::new(program).args(args).output();
        output.map_or_else(|_| "unknown".to_owned(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let changed = ["status", "--porcelain", "--untracked-files=no", "--", ":/", ":(top,exclude)benchmarks/results"];
    let dirty = if output("git", &changed).is_empty() { "" } else { "-dirty" };
    let (commit, date) = (output("git", &["describe", "--always"]), output("date", &["-u", "+%FT%TZ"]));
    let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split_once(": "));
    let (count, model) =
        (std::thread::available_parallelism().map_or(1, usize::from), model.map_or("unknown", |m| m.1));
    format!("at commit {commit}{dirty} on {date}, {count} x {model}")
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let Some(corpus) = limit::corpus() else { return };
    let option = |name: &str| args.iter().position(|arg| arg == name).map(|at| &args[at + 1..]);
    if let Some([side, policy, count, ..]) = option("--repeat") {
        let case = CASES.iter().find(|case| case.name.ends_with(policy.as_str())).unwrap();
        let run = SIDES.iter().find(|(name, _)| name == side).unwrap().1;
        run(&Subject::new(case, &case.file(&corpus)), count.parse().unwrap());
        return;
    }
    let lines = CASES.iter().map(|case| Line::measure(&Subject::new(case, &case.file(&corpus))));
    let table = table(&lines.collect::<Vec<_>>());
    println!("{table}");
    if let Some([out, ..]) = option("--out") {
        std::fs::write(out, report(&table)).unwrap();
    }
}
