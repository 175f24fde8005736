//! Prints what the type checker makes of each case read from standard input, for comparison with cel-go
//! (`tests/differential/checker`, which describes the cases).

use std::collections::BTreeSet;
use std::io::{BufRead as _, Write};
use std::sync::Arc;

use celgate_cel::ast::{Expr, ExprKind, Literal};
use celgate_cel::check::{Checked, Reference, check};
use celgate_cel::decls::{TypeProvider, VariableDecl};
use celgate_cel::env::{Env, EnvBuilder};
use celgate_cel::library::standard::decls;
use celgate_cel::parser::{ParseOptions, parse};
use celgate_cel::types::Type;
use celgate_cel::validate::Validator;

fn main() -> std::io::Result<()> {
    let base = policy_environment();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        dump_case(&mut out, &base, &line?)?;
        writeln!(out, ".")?;
    }
    out.flush()
}

/// The environment without Kubernetes' libraries.
fn policy_environment() -> Env {
    EnvBuilder::new()
        .functions(decls::functions())
        .functions(decls::optional_functions())
        .functions(decls::two_variable_comprehension_functions())
        .optional_type_name()
        .validator(Validator::DurationLiterals)
        .validator(Validator::TimestampLiterals)
        .validator(Validator::RegexLiterals)
        .validator(Validator::HomogeneousLiterals)
        .build()
        .with_provider(Arc::new(PolicyTypes))
        .with_variables([
            VariableDecl::new("variables", Type::object("kubernetes.variables")),
            VariableDecl::new("object", Type::Dyn),
            VariableDecl::new("oldObject", Type::Dyn),
            VariableDecl::new("namespaceObject", Type::object("kubernetes.Namespace")),
            VariableDecl::new("request", Type::object("kubernetes.AdmissionRequest")),
        ])
}

fn dump_case(out: &mut impl Write, base: &Env, line: &str) -> std::io::Result<()> {
    let mut fields = line.split(' ');
    let flags = fields.next().unwrap_or_default();
    let expression = decode(fields.next().unwrap_or_default())?;
    let mut variables = Vec::new();
    if flags.contains('p') {
        variables.push(VariableDecl::new("params", Type::Dyn));
    }
    if flags.contains('a') {
        let check = Type::object("kubernetes.authorization.ResourceCheck");
        variables.push(VariableDecl::new("authorizer", Type::object("kubernetes.authorization.Authorizer")));
        variables.push(VariableDecl::new("authorizer.requestResource", check));
    }
    let mut env = base.with_variables(variables);
    for field in fields {
        let (name, text) = field.split_once('=').unwrap_or((field, ""));
        let ty = dump_expression(out, &env, &decode(text)?)?;
        env = env.with_struct_field("kubernetes.variables", name, ty.as_ref().map_or(Type::Dyn, declared_type));
    }
    dump_expression(out, &env, &expression)?;
    Ok(())
}

/// The declared type of a variable of this type: scalars, lists and maps of them, else `dyn`.
fn declared_type(ty: &Type) -> Type {
    match ty {
        Type::List(elem) => Type::list(declared_type(elem)),
        Type::Map(key, value) => Type::map(declared_type(key), declared_type(value)),
        Type::Error | Type::Object(_) | Type::Opaque(..) | Type::Wrapper(_) | Type::Type(_) => Type::Dyn,
        Type::TypeType | Type::Param(_) | Type::Var(_) => Type::Dyn,
        scalar => scalar.clone(),
    }
}

fn dump_expression(out: &mut impl Write, env: &Env, text: &str) -> std::io::Result<Option<Type>> {
    let Ok(ast) = parse(text, &ParseOptions::kubernetes()) else {
        writeln!(out, "syntax")?;
        return Ok(None);
    };
    match check(ast, env) {
        Ok(checked) => {
            writeln!(out, "ok {} | {}", checked.output, checked.output.go_string())?;
            for line in lines(&checked) {
                writeln!(out, "{line}")?;
            }
            Ok(Some(checked.output))
        }
        Err(issues) => {
            writeln!(out, "error {}", escape(&issues.to_string()))?;
            Ok(None)
        }
    }
}

fn lines(checked: &Checked) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    for (id, ty) in &checked.types {
        lines.insert(format!("{id:08} type {ty}"));
    }
    for (id, Reference { name, overloads, value }) in &checked.references {
        let value = match value {
            Some(Literal::Int(value)) => value.to_string(),
            _ => String::new(),
        };
        lines.insert(format!("{id:08} refers {}|{}|{value}", escape(name), overloads.join(",")));
    }
    names(&checked.ast.expr, &mut lines);
    lines
}

/// Adds the names of identifiers, calls and messages.
fn names(expr: &Expr, lines: &mut BTreeSet<String>) {
    let id = expr.id;
    match &expr.kind {
        ExprKind::Unspecified | ExprKind::Literal(_) => {}
        ExprKind::Ident(name) => {
            lines.insert(format!("{id:08} ident {}", escape(name)));
        }
        ExprKind::Select { operand, .. } => names(operand, lines),
        ExprKind::Call { target, function, args } => {
            lines.insert(format!("{id:08} call {function} {}", target.is_some()));
            target.iter().for_each(|target| names(target, lines));
            args.iter().for_each(|arg| names(arg, lines));
        }
        ExprKind::List { elements, .. } => elements.iter().for_each(|element| names(element, lines)),
        ExprKind::Map { entries } => entries.iter().for_each(|entry| {
            names(&entry.key, lines);
            names(&entry.value, lines);
        }),
        ExprKind::Struct { type_name, fields } => {
            lines.insert(format!("{id:08} struct {}", escape(type_name)));
            fields.iter().for_each(|field| names(&field.value, lines));
        }
        ExprKind::Comprehension(fold) => {
            let parts = [&fold.iter_range, &fold.accu_init, &fold.loop_condition, &fold.loop_step, &fold.result];
            parts.into_iter().for_each(|part| names(part, lines));
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n")
}

fn decode(hex: &str) -> std::io::Result<String> {
    let digits: Option<Vec<u8>> = hex.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
    let bytes: Option<Vec<u8>> =
        digits.map(|digits| digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect());
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    text.ok_or_else(|| std::io::Error::other("not hexadecimal UTF-8"))
}

/// The declared types of the admission request and the namespace (apiserver `pkg/admission/plugin/cel/compile.go`).
struct PolicyTypes;

const RESERVED: &[&str] = &[
    "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let",
    "loop", "package", "namespace", "return", "var", "void", "while",
];

impl TypeProvider for PolicyTypes {
    fn has_struct(&self, type_name: &str) -> bool {
        self.struct_type(type_name).is_some()
    }

    fn field_type(&self, type_name: &str, field: &str) -> Option<Type> {
        let strings = || Type::list(Type::String);
        let labels = || Type::map(Type::String, Type::String);
        Some(match (type_name, field) {
            ("kubernetes.GroupVersionKind", "group" | "version" | "kind")
            | ("kubernetes.GroupVersionResource", "group" | "version" | "resource")
            | ("kubernetes.UserInfo", "username" | "uid")
            | ("kubernetes.NamespaceCondition", "status" | "type" | "message" | "reason")
            | ("kubernetes.NamespaceStatus", "phase")
            | ("kubernetes.NamespaceMetadata", "name" | "generateName" | "namespace" | "UID" | "resourceVersion") => {
                Type::String
            }
            ("kubernetes.UserInfo", "groups") | ("kubernetes.NamespaceSpec" | "kubernetes.NamespaceMetadata", "finalizers") => {
                strings()
            }
            ("kubernetes.UserInfo", "extra") => Type::map(Type::String, strings()),
            ("kubernetes.AdmissionRequest", "kind" | "requestKind") => Type::object("kubernetes.GroupVersionKind"),
            ("kubernetes.AdmissionRequest", "resource" | "requestResource") => {
                Type::object("kubernetes.GroupVersionResource")
            }
            (
                "kubernetes.AdmissionRequest",
                "subResource" | "requestSubResource" | "name" | "namespace" | "operation",
            ) => Type::String,
            ("kubernetes.AdmissionRequest", "userInfo") => Type::object("kubernetes.UserInfo"),
            ("kubernetes.AdmissionRequest", "dryRun") => Type::Bool,
            ("kubernetes.AdmissionRequest", "options") => Type::Dyn,
            ("kubernetes.NamespaceCondition", "lastTransitionTime")
            | ("kubernetes.NamespaceMetadata", "creationTimestamp" | "deletionTimestamp") => Type::Timestamp,
            ("kubernetes.NamespaceStatus", "conditions") => Type::list(Type::object("kubernetes.NamespaceCondition")),
            ("kubernetes.NamespaceMetadata", "labels" | "annotations") => labels(),
            ("kubernetes.NamespaceMetadata", "deletionGracePeriodSeconds" | "generation") => Type::Int,
            ("kubernetes.Namespace", "metadata") => Type::object("kubernetes.NamespaceMetadata"),
            ("kubernetes.Namespace", "spec") => Type::object("kubernetes.NamespaceSpec"),
            ("kubernetes.Namespace", "status") => Type::object("kubernetes.NamespaceStatus"),
            ("map", _) => Type::Any,
            ("kubernetes.AdmissionRequest.userInfo.extra", _) => strings(),
            ("kubernetes.Namespace.metadata.labels" | "kubernetes.Namespace.metadata.annotations", _) => Type::String,
            (_, reserved) if RESERVED.contains(&reserved) => {
                return self.field_type(type_name, &format!("__{reserved}__"));
            }
            _ => return None,
        })
    }

    fn struct_type(&self, type_name: &str) -> Option<Type> {
        Some(match type_name {
            "bool" => Type::Bool,
            "bytes" => Type::Bytes,
            "double" => Type::Double,
            "duration" => Type::Duration,
            "int" => Type::Int,
            "null_type" => Type::Null,
            "string" => Type::String,
            "timestamp" => Type::Timestamp,
            "uint" => Type::Uint,
            "list" => Type::list(Type::Any),
            "map" => Type::map(Type::Any, Type::Any),
            "kubernetes.AdmissionRequest.userInfo.groups"
            | "kubernetes.Namespace.metadata.finalizers"
            | "kubernetes.Namespace.spec.finalizers" => Type::list(Type::String),
            "kubernetes.AdmissionRequest.userInfo.extra" => Type::map(Type::String, Type::list(Type::String)),
            "kubernetes.Namespace.metadata.labels" | "kubernetes.Namespace.metadata.annotations" => {
                Type::map(Type::String, Type::String)
            }
            "kubernetes.Namespace.status.conditions" => Type::list(Type::object("kubernetes.NamespaceCondition")),
            "kubernetes.GroupVersionKind"
            | "kubernetes.GroupVersionResource"
            | "kubernetes.UserInfo"
            | "kubernetes.AdmissionRequest"
            | "kubernetes.NamespaceSpec"
            | "kubernetes.NamespaceCondition"
            | "kubernetes.NamespaceStatus"
            | "kubernetes.NamespaceMetadata"
            | "kubernetes.Namespace"
            | "kubernetes.variables" => Type::object(type_name),
            _ => return None,
        })
    }
}
