//! CEL as Kubernetes embeds it: parse, check, plan and evaluate, exact with cel-go in value, error text and cost.
//!
//! This crate knows no Kubernetes. Source text → [`ast::Ast`] → checked expression → program → [`value::Value`].
#![forbid(unsafe_code)]
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")
)]

pub mod ast;
pub mod check;
pub mod context;
mod cost;
pub mod decls;
pub mod env;
pub mod eval;
pub mod function;
pub mod gotext;
pub mod issues;
pub mod lexer;
pub mod library;
pub mod macros;
pub mod memo;
pub mod message;
pub mod mutants;
pub mod ops;
pub mod parser;
pub mod plan;
pub mod record;
pub mod regex;
pub mod time;
pub mod types;
pub mod unescape;
pub mod validate;
pub mod value;
