//! Declarations of the standard functions and of those on optional values, with cel-go's overload ids and in its order
//! (cel-go `common/stdlib/standard.go`, `cel/library.go` `OptionalTypes`).

use crate::decls::{FunctionDecl, OverloadDecl};
use crate::types::Type;
use crate::types::Type::{Bool, Bytes, Double, Duration, Dyn, Int, String, Timestamp, Uint};

/// The functions and operators of the language.
pub fn functions() -> Vec<FunctionDecl> {
    let mut all = logic();
    all.extend(arithmetic());
    all.extend(["less", "less_equals", "greater", "greater_equals"].map(ordering));
    all.extend(collections());
    all.extend(conversions());
    all.extend(strings());
    all.extend(timestamp_parts());
    all
}

/// The functions on optional values.
pub fn optional_functions() -> Vec<FunctionDecl> {
    let v = || Type::param("V");
    let optional = || Type::optional(v());
    let list = || Type::list(v());
    let map = || Type::map(Type::param("K"), v());
    let key = || Type::param("K");
    vec![
        function("optional.of", vec![global("optional_of", [v()], optional())]),
        function("optional.ofNonZeroValue", vec![global("optional_ofNonZeroValue", [v()], optional())]),
        function("optional.none", vec![global("optional_none", [], optional())]),
        function("value", vec![member("optional_value", [optional()], v())]),
        function("hasValue", vec![member("optional_hasValue", [optional()], Bool)]),
        function("or", vec![member("optional_or_optional", [optional(), optional()], optional())]),
        function("orValue", vec![member("optional_orValue_value", [optional(), v()], v())]),
        function("_?._", vec![global("select_optional_field", [Dyn, String], optional())]),
        function(
            "_[?_]",
            vec![
                global("list_optindex_optional_int", [list(), Int], optional()),
                global("optional_list_optindex_optional_int", [Type::optional(list()), Int], optional()),
                global("map_optindex_optional_value", [map(), key()], optional()),
                global("optional_map_optindex_optional_value", [Type::optional(map()), key()], optional()),
            ],
        ),
        function(
            "_[_]",
            vec![
                global("optional_list_index_int", [Type::optional(list()), Int], optional()),
                global("optional_map_index_value", [Type::optional(map()), key()], optional()),
            ],
        ),
        function("last", vec![member("list_last", [list()], optional())]),
        function("first", vec![member("list_first", [list()], optional())]),
        function("optional.unwrap", vec![global("optional_unwrap", [Type::list(optional())], list())]),
        function("unwrapOpt", vec![member("optional_unwrapOpt", [Type::list(optional())], list())]),
    ]
}

/// The functions that the macros `transformMap` and `transformMapEntry` expand to (cel-go `ext/comprehensions.go`).
pub fn two_variable_comprehension_functions() -> Vec<FunctionDecl> {
    let key = || Type::param("K");
    let value = || Type::param("V");
    let map = || Type::map(key(), value());
    vec![function(
        "cel.@mapInsert",
        vec![
            global("@mapInsert_map_key_value", [map(), key(), value()], map()),
            global("@mapInsert_map_map", [map(), map()], map()),
        ],
    )]
}

fn function(name: &'static str, overloads: Vec<OverloadDecl>) -> FunctionDecl {
    FunctionDecl::new(name, overloads)
}

fn global<const N: usize>(id: &'static str, args: [Type; N], result: Type) -> OverloadDecl {
    OverloadDecl::global(id, Vec::from(args), result)
}

fn member<const N: usize>(id: &'static str, args: [Type; N], result: Type) -> OverloadDecl {
    OverloadDecl::member(id, Vec::from(args), result)
}

fn a() -> Type {
    Type::param("A")
}

fn list_a() -> Type {
    Type::list(a())
}

fn map_ab() -> Type {
    Type::map(a(), Type::param("B"))
}

fn logic() -> Vec<FunctionDecl> {
    vec![
        function("_?_:_", vec![global("conditional", [Bool, a(), a()], a())]),
        function("_&&_", vec![global("logical_and", [Bool, Bool], Bool)]),
        function("_||_", vec![global("logical_or", [Bool, Bool], Bool)]),
        function("!_", vec![global("logical_not", [Bool], Bool)]),
        function("@not_strictly_false", vec![global("not_strictly_false", [Bool], Bool)]),
        function("_==_", vec![global("equals", [a(), a()], Bool)]),
        function("_!=_", vec![global("not_equals", [a(), a()], Bool)]),
    ]
}

fn arithmetic() -> Vec<FunctionDecl> {
    vec![
        function(
            "_+_",
            vec![
                global("add_bytes", [Bytes, Bytes], Bytes),
                global("add_double", [Double, Double], Double),
                global("add_duration_duration", [Duration, Duration], Duration),
                global("add_duration_timestamp", [Duration, Timestamp], Timestamp),
                global("add_timestamp_duration", [Timestamp, Duration], Timestamp),
                global("add_int64", [Int, Int], Int),
                global("add_list", [list_a(), list_a()], list_a()),
                global("add_string", [String, String], String),
                global("add_uint64", [Uint, Uint], Uint),
            ],
        ),
        function(
            "_/_",
            vec![
                global("divide_double", [Double, Double], Double),
                global("divide_int64", [Int, Int], Int),
                global("divide_uint64", [Uint, Uint], Uint),
            ],
        ),
        function("_%_", vec![global("modulo_int64", [Int, Int], Int), global("modulo_uint64", [Uint, Uint], Uint)]),
        function(
            "_*_",
            vec![
                global("multiply_double", [Double, Double], Double),
                global("multiply_int64", [Int, Int], Int),
                global("multiply_uint64", [Uint, Uint], Uint),
            ],
        ),
        function("-_", vec![global("negate_double", [Double], Double), global("negate_int64", [Int], Int)]),
        function(
            "_-_",
            vec![
                global("subtract_double", [Double, Double], Double),
                global("subtract_duration_duration", [Duration, Duration], Duration),
                global("subtract_int64", [Int, Int], Int),
                global("subtract_timestamp_duration", [Timestamp, Duration], Timestamp),
                global("subtract_timestamp_timestamp", [Timestamp, Timestamp], Duration),
                global("subtract_uint64", [Uint, Uint], Uint),
            ],
        ),
    ]
}

/// One of the four comparisons.
fn ordering(relation: &str) -> FunctionDecl {
    macro_rules! overloads {
        ($name:literal, $prefix:literal) => {
            function(
                $name,
                vec![
                    global(concat!($prefix, "_bool"), [Bool, Bool], Bool),
                    global(concat!($prefix, "_int64"), [Int, Int], Bool),
                    global(concat!($prefix, "_int64_double"), [Int, Double], Bool),
                    global(concat!($prefix, "_int64_uint64"), [Int, Uint], Bool),
                    global(concat!($prefix, "_uint64"), [Uint, Uint], Bool),
                    global(concat!($prefix, "_uint64_double"), [Uint, Double], Bool),
                    global(concat!($prefix, "_uint64_int64"), [Uint, Int], Bool),
                    global(concat!($prefix, "_double"), [Double, Double], Bool),
                    global(concat!($prefix, "_double_int64"), [Double, Int], Bool),
                    global(concat!($prefix, "_double_uint64"), [Double, Uint], Bool),
                    global(concat!($prefix, "_string"), [String, String], Bool),
                    global(concat!($prefix, "_bytes"), [Bytes, Bytes], Bool),
                    global(concat!($prefix, "_timestamp"), [Timestamp, Timestamp], Bool),
                    global(concat!($prefix, "_duration"), [Duration, Duration], Bool),
                ],
            )
        };
    }
    match relation {
        "less" => overloads!("_<_", "less"),
        "less_equals" => overloads!("_<=_", "less_equals"),
        "greater" => overloads!("_>_", "greater"),
        _ => overloads!("_>=_", "greater_equals"),
    }
}

fn collections() -> Vec<FunctionDecl> {
    vec![
        function(
            "_[_]",
            vec![global("index_list", [list_a(), Int], a()), global("index_map", [map_ab(), a()], Type::param("B"))],
        ),
        function("@in", vec![global("in_list", [a(), list_a()], Bool), global("in_map", [a(), map_ab()], Bool)]),
        function(
            "size",
            vec![
                global("size_bytes", [Bytes], Int),
                member("bytes_size", [Bytes], Int),
                global("size_list", [list_a()], Int),
                member("list_size", [list_a()], Int),
                global("size_map", [map_ab()], Int),
                member("map_size", [map_ab()], Int),
                global("size_string", [String], Int),
                member("string_size", [String], Int),
            ],
        ),
    ]
}

fn conversions() -> Vec<FunctionDecl> {
    vec![
        function("type", vec![global("type", [a()], Type::type_of(a()))]),
        function("bool", vec![global("bool_to_bool", [Bool], Bool), global("string_to_bool", [String], Bool)]),
        function("bytes", vec![global("bytes_to_bytes", [Bytes], Bytes), global("string_to_bytes", [String], Bytes)]),
        function(
            "double",
            vec![
                global("double_to_double", [Double], Double),
                global("int64_to_double", [Int], Double),
                global("string_to_double", [String], Double),
                global("uint64_to_double", [Uint], Double),
            ],
        ),
        function(
            "duration",
            vec![
                global("duration_to_duration", [Duration], Duration),
                global("string_to_duration", [String], Duration),
            ],
        ),
        function("dyn", vec![global("to_dyn", [a()], Dyn)]),
        function(
            "int",
            vec![
                global("int64_to_int64", [Int], Int),
                global("double_to_int64", [Double], Int),
                global("duration_to_int64", [Duration], Int),
                global("string_to_int64", [String], Int),
                global("timestamp_to_int64", [Timestamp], Int),
                global("uint64_to_int64", [Uint], Int),
            ],
        ),
        function(
            "string",
            vec![
                global("string_to_string", [String], String),
                global("bool_to_string", [Bool], String),
                global("bytes_to_string", [Bytes], String),
                global("double_to_string", [Double], String),
                global("duration_to_string", [Duration], String),
                global("int64_to_string", [Int], String),
                global("timestamp_to_string", [Timestamp], String),
                global("uint64_to_string", [Uint], String),
            ],
        ),
        function(
            "timestamp",
            vec![
                global("timestamp_to_timestamp", [Timestamp], Timestamp),
                global("int64_to_timestamp", [Int], Timestamp),
                global("string_to_timestamp", [String], Timestamp),
            ],
        ),
        function(
            "uint",
            vec![
                global("uint64_to_uint64", [Uint], Uint),
                global("double_to_uint64", [Double], Uint),
                global("int64_to_uint64", [Int], Uint),
                global("string_to_uint64", [String], Uint),
            ],
        ),
    ]
}

fn strings() -> Vec<FunctionDecl> {
    vec![
        function("contains", vec![member("contains_string", [String, String], Bool)]),
        function("endsWith", vec![member("ends_with_string", [String, String], Bool)]),
        function("startsWith", vec![member("starts_with_string", [String, String], Bool)]),
        function(
            "matches",
            vec![global("matches", [String, String], Bool), member("matches_string", [String, String], Bool)],
        ),
    ]
}

/// The parts of timestamps, with and without a time zone, and of durations.
fn timestamp_parts() -> Vec<FunctionDecl> {
    let part = |name, id, id_with_zone, duration: Option<&'static str>| {
        let mut overloads = vec![member(id, [Timestamp], Int), member(id_with_zone, [Timestamp, String], Int)];
        overloads.extend(duration.map(|id| member(id, [Duration], Int)));
        function(name, overloads)
    };
    vec![
        part("getFullYear", "timestamp_to_year", "timestamp_to_year_with_tz", None),
        part("getMonth", "timestamp_to_month", "timestamp_to_month_with_tz", None),
        part("getDayOfYear", "timestamp_to_day_of_year", "timestamp_to_day_of_year_with_tz", None),
        part("getDayOfMonth", "timestamp_to_day_of_month", "timestamp_to_day_of_month_with_tz", None),
        part("getDate", "timestamp_to_day_of_month_1_based", "timestamp_to_day_of_month_1_based_with_tz", None),
        part("getDayOfWeek", "timestamp_to_day_of_week", "timestamp_to_day_of_week_with_tz", None),
        part("getHours", "timestamp_to_hours", "timestamp_to_hours_with_tz", Some("duration_to_hours")),
        part("getMinutes", "timestamp_to_minutes", "timestamp_to_minutes_with_tz", Some("duration_to_minutes")),
        part("getSeconds", "timestamp_to_seconds", "timestamp_to_seconds_tz", Some("duration_to_seconds")),
        part(
            "getMilliseconds",
            "timestamp_to_milliseconds",
            "timestamp_to_milliseconds_with_tz",
            Some("duration_to_milliseconds"),
        ),
    ]
}
