//! CEL as Kubernetes embeds it: parse, check, plan and evaluate, exact with cel-go in value, error text and cost.
//!
//! This crate knows no Kubernetes. Source text → [`ast::Ast`] → checked expression → program → [`value::Value`].
#![forbid(unsafe_code)]

pub mod ast;
pub mod context;
pub mod decls;
pub mod function;
pub mod record;
pub mod types;
pub mod value;
