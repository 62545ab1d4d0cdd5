use std::borrow::Cow;

use proptest::prelude::*;
use serde_json::json;
use toolcheck_json::Document;

use super::*;

/// Checks arguments of a record that is as long as the schema and the arguments, and returns the steps too.
fn check(schema: &Json, arguments: &Json) -> (Verdict, u64) {
    let text = arguments.to_string();
    let document = Document::read(text.as_bytes());
    let mut fuel = Fuel::of_record(text.len() + schema.to_string().len());
    let before = fuel.left();
    let verdict = Schema::of(schema).expect("the schema is valid").check(document.root(), &mut fuel);
    (verdict, before - fuel.left())
}

/// Arguments with a list of `count` of these values, and a schema for its elements.
fn listing(count: usize, value: Json, element: Json) -> (Json, Json) {
    let schema = json!({"type": "object", "properties": {"a": {"type": "array", "items": element}}});
    (schema, json!({"a": vec![value; count]}))
}

#[test]
fn a_schema_that_is_only_declared_is_not_compiled() {
    let schemas = Schemas::new(false);
    for text in [
        r#"{"type": "object", "properties": {"a": {"type": "string", "pattern": "^\\p{L}{1,190}$"}}, "required": ["a"]}"#,
        r#"{"type": "OBJECT", "properties": {"a": {"type": "STRING", "nullable": true}}}"#,
        r##"{"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"enum": [1, {}]}}}"##,
        r#"{"type": "object", "additionalProperties": false, "properties": {"a": {"anyOf": [{"type": "null"}, {"minimum": 0}]}}}"#,
        r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": ["object", "null"], "x-own": {"$id": 1}}"#,
    ] {
        let document = Document::read(text.as_bytes());
        assert_eq!(schemas.unusable(document.root()), None, "{text}");
        assert_eq!(schemas.compilations.get(), 0, "{text}");
    }
}

#[test]
fn a_schema_is_compiled_once() {
    let schemas = Schemas::new(false);
    let text = br#"{"type": "object"}"#;
    for _ in 0..3 {
        assert!(schemas.of(text).is_ok());
    }
    assert_eq!(schemas.compilations.get(), 1);
}

#[test]
fn what_is_kept_of_schemas_is_bounded() {
    let mut kept = Kept::default();
    for number in 0..1_000u32 {
        kept.insert(&number.to_le_bytes(), (), MOST_KEPT / 100);
        assert!(kept.size <= MOST_KEPT && kept.known.len() <= 100);
    }
    assert!(kept.known.len() > 5);
}

#[test]
fn a_value_is_charged_for_each_value_that_it_is_compared_with() {
    let objects = |count: usize| -> Vec<Json> { (0..count).map(|number| json!({"e": number})).collect() };
    let steps = |count: usize| {
        let (schema, arguments) = listing(count, json!({"e": count - 1}), json!({"enum": objects(count)}));
        check(&schema, &arguments)
    };
    let (small, large) = (steps(50), steps(200));
    assert_eq!((small.0, large.0), (Verdict::Allowed, Verdict::Allowed));
    assert!(large.1 > 200 * 200 && large.1 > 12 * small.1, "{small:?} {large:?}");
    assert_eq!(steps(3_000).0, Verdict::TooSlow);
}

#[test]
fn strings_and_integers_are_looked_up() {
    for (value, values) in [
        (json!("v2999"), (0..3_000).map(|number| json!(format!("v{number}"))).collect::<Vec<_>>()),
        (json!(2_999), (0..3_000).map(Json::from).collect()),
    ] {
        let (schema, arguments) = listing(3_000, value, json!({"enum": values}));
        let (verdict, steps) = check(&schema, &arguments);
        assert_eq!(verdict, Verdict::Allowed);
        assert!(steps < 100_000, "{steps}");
    }
}

/// A number that is written in another way than an integer is compared with each.
#[test]
fn other_numbers_are_charged_for_each_integer() {
    let steps = |count: usize| {
        let values: Vec<Json> = (0..count).map(Json::from).collect();
        let (schema, arguments) = listing(count, json!(count as f64 - 1.0), json!({"enum": values}));
        assert!(arguments.to_string().contains(".0"));
        check(&schema, &arguments)
    };
    let (small, large) = (steps(20), steps(80));
    assert_eq!((small.0, large.0), (Verdict::Allowed, Verdict::Allowed));
    assert!(large.1 > 80 * 80 && large.1 > 12 * small.1, "{small:?} {large:?}");
    assert_eq!(steps(3_000).0, Verdict::TooSlow);
}

#[test]
fn products_of_schemas_and_values_are_bounded() {
    let constants: Vec<Json> = (0..4_000).map(|number| json!({"const": number})).collect();
    let keys: Vec<Json> = (0..3_000).map(|key| json!({"required": [format!("k{key}")]})).collect();
    let patterns: Vec<Json> =
        (0..200).map(|number| json!({"pattern": format!("^(a*)*\\1b{number}$")})).collect();
    for element in [
        json!({"anyOf": constants}),
        json!({"oneOf": constants}),
        json!({"not": {"anyOf": constants}}),
        json!({"anyOf": keys}),
        json!({"allOf": patterns}),
    ] {
        let value =
            if element.to_string().contains("pattern") { json!("a".repeat(40)) } else { json!(3_999) };
        let (schema, arguments) = listing(4_000, value, element);
        let (verdict, steps) = check(&schema, &arguments);
        let length = schema.to_string().len() + arguments.to_string().len();
        assert_eq!(verdict, Verdict::TooSlow, "{:.100}", schema.to_string());
        assert!(steps <= 50_000 + 64 * length as u64, "{steps}");
    }
}

#[test]
fn what_a_tool_ordinarily_takes_costs_little() {
    let schema = json!({"type": "object", "required": ["path", "edits"], "additionalProperties": false, "properties": {
        "path": {"type": "string", "pattern": "^[^\\n]{1,2048}$", "maxLength": 2048},
        "edits": {"type": "array", "uniqueItems": true, "items": {"type": "object", "required": ["old", "new"],
            "properties": {"old": {"type": "string"}, "new": {"type": "string"},
                "kind": {"anyOf": [{"const": "one"}, {"const": "all"}, {"type": "null"}]}}}}}});
    let edit =
        |number: usize| json!({"old": format!("a line {number}"), "new": "another line", "kind": "all"});
    let arguments = json!({"path": "src/main.rs", "edits": (0..2_000).map(edit).collect::<Vec<_>>()});
    let (verdict, steps) = check(&schema, &arguments);
    assert_eq!(verdict, Verdict::Allowed);
    // A tenth of what is allowed.
    assert!(steps < 64 * arguments.to_string().len() as u64 / 10, "{steps}");
}

#[test]
fn an_expression_decides_nothing_once_the_steps_are_spent() {
    let pattern = json!({"pattern": "^(a*)*\\1b$"});
    // Assumed to match, it would not be allowed.
    let (schema, arguments) = listing(1, json!("a".repeat(30) + "!"), json!({"not": pattern}));
    assert_eq!(check(&schema, &arguments).0, Verdict::TooSlow);
}

#[test]
fn of_very_many_errors_only_the_first_is_listed() {
    let errors = |count: usize| {
        let alternatives: Vec<Json> = (0..count).map(|number| json!({"minimum": number + 1})).collect();
        let (schema, arguments) = listing(count, json!(0), json!({"allOf": alternatives}));
        let text = arguments.to_string();
        let document = Document::read(text.as_bytes());
        let schema = Schema::of(&schema).expect("the schema is valid");
        schema.with_errors(document.root(), false, |errors| (errors.listed.len(), errors.are_all))
    };
    assert_eq!(errors(20), (400, true));
    assert_eq!(errors(200), (1, false));
}

#[test]
fn an_error_holds_no_copy_of_the_arguments() {
    let keys: Vec<String> = (0..500).map(|key| format!("k{key}")).collect();
    let schema = Schema::of(&json!({"required": keys})).expect("the schema is valid");
    let text = json!({"text": "x".repeat(10_000)}).to_string();
    let document = Document::read(text.as_bytes());
    schema.with_errors(document.root(), false, |errors| {
        assert_eq!(errors.listed.len(), 500);
        assert!(errors.listed.iter().all(|error| matches!(error.instance(), Cow::Borrowed(_))));
    });
}

#[test]
fn arguments_may_be_nested_as_deeply_as_a_document() {
    let deep = |levels: usize| format!("{{\"a\": {}1{}, \"b\": 1}}", "[".repeat(levels), "]".repeat(levels));
    let schema = |second: &str| {
        let text =
            format!(r#"{{"properties": {{"a": {{"uniqueItems": true}}, "b": {{"type": "{second}"}}}}}}"#);
        Schema::compile(text.as_bytes(), false).expect("the schema is valid")
    };
    for levels in [100, 300, 600, 9_000] {
        let text = deep(levels);
        let document = Document::read(text.as_bytes());
        assert!(document.faults().is_empty());
        let verdict = |second| schema(second).check(document.root(), &mut Fuel::of_record(text.len()));
        assert_eq!(
            (verdict("integer"), verdict("string")),
            (Verdict::Allowed, Verdict::Violated),
            "{levels}"
        );
    }
}

/// Schemas, most of them valid.
fn schema() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        4 => prop::sample::select(vec!["string", "integer", "null", "OBJECT", "str", "TYPE_UNSPECIFIED"])
            .prop_map(|kind| json!({"type": kind})),
        1 => Just(json!({"type": ["string", "null"], "nullable": true, "enum": ["a", null]})),
        1 => Just(json!({"type": ["string", "string"]})),
        1 => Just(json!({"type": "NULL", "nullable": true})),
        1 => Just(json!({"minLength": "3", "type": "STRING"})),
        1 => Just(json!({"minimum": 1.5, "multipleOf": 0, "maxItems": -1})),
        1 => Just(json!({"minItems": 2, "uniqueItems": true, "multipleOf": 3})),
        1 => prop::sample::select(vec!["^a$", "[", "\\p{Nothing}", "(?=a)", "^(a{1,9}){2}$", "*"])
            .prop_map(|pattern| json!({"pattern": pattern})),
        1 => prop::sample::select(vec!["#", "#/$defs/a", "#/$defs/b", "#/definitions/a", "#/properties/a", "x.json"])
            .prop_map(|reference| json!({"$ref": reference})),
        1 => prop::sample::select(vec![
            "https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#", "x",
        ]).prop_map(|draft| json!({"$schema": draft, "pattern": "["})),
        1 => prop::sample::select(vec!["date", "uuid", "uri", "int32"]).prop_map(|format| json!({"format": format})),
        1 => prop::sample::select(vec![
            "https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#",
        ]).prop_map(|draft| json!({"$schema": draft, "type": ["object", "string"]})),
        1 => Just(json!({"minimum": 0, "exclusiveMaximum": 1, "maxLength": 1, "const": "a"})),
        1 => Just(json!(true)),
        1 => Just(json!(null)),
        1 => Just(json!({"enum": {}, "default": {"type": 1}})),
        1 => Just(json!({"required": ["a", "a"]})),
        1 => Just(json!({"required": ["a", "b"], "x": {"type": 1}, "$id": "y"})),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let key = prop::sample::select(vec!["a", "b", "type", "^x", "["]);
        prop_oneof![
            (
                prop::sample::select(vec![
                    "properties",
                    "$defs",
                    "definitions",
                    "patternProperties",
                    "dependentSchemas"
                ]),
                prop::collection::btree_map(key, inner.clone(), 0..3)
            )
                .prop_map(|(keyword, map)| json!({"type": "object", keyword: map})),
            (
                prop::sample::select(vec![
                    "items",
                    "additionalProperties",
                    "not",
                    "if",
                    "contains",
                    "propertyNames",
                    "x"
                ]),
                inner.clone()
            )
                .prop_map(|(keyword, inner)| json!({keyword: inner})),
            (
                prop::sample::select(vec!["anyOf", "oneOf", "allOf", "prefixItems", "items", "enum"]),
                prop::collection::vec(inner.clone(), 0..3)
            )
                .prop_map(|(keyword, list)| json!({keyword: list})),
            (inner.clone(), inner).prop_map(|(one, other)| match (one, other) {
                (Json::Object(mut one), Json::Object(other)) => {
                    one.extend(other);
                    Json::Object(one)
                }
                (one, _) => one,
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn what_is_valid_at_a_glance_compiles(schema in schema(), is_padded: bool) {
        let text = schema.to_string();
        let document = Document::read(text.as_bytes());
        let schemas = Schemas::new(is_padded);
        let seen = schemas.unusable(document.root());
        let compiled = Schema::compile(text.as_bytes(), is_padded).err();
        // What is not reported unless the tool is called may differ.
        let told = |why: Option<Unusable>| why.filter(|why| !matches!(why, Unusable::Foreign | Unusable::TooLarge));
        prop_assert_eq!(told(seen), told(compiled), "{}", text);
    }

    /// What is seen without the validator is what the validator sees.
    #[test]
    fn what_is_surely_allowed_is_allowed(schema in schema(), value in value(), is_padded: bool) {
        let text = schema.to_string();
        let Ok(lazy) = Schema::compile(text.as_bytes(), is_padded) else { return Ok(()) };
        let arguments = value.to_string();
        let document = Document::read(arguments.as_bytes());
        let json = read(text.as_bytes(), is_padded).expect("it is valid");
        let eager = Schema::of(&json).expect("what is plain compiles");
        let [lazy, eager] = [lazy, eager].map(|schema| {
            let mut fuel = Fuel::of_record(1 << 20);
            (schema.check(document.root(), &mut fuel), fuel.left())
        });
        prop_assert_eq!(lazy, eager, "{} against {}", arguments, text);
    }
}

fn value() -> impl Strategy<Value = Json> {
    let leaf = prop::sample::select(vec![
        json!("a"),
        json!("string"),
        json!(""),
        json!("ab\u{e9}"),
        json!(0),
        json!(1),
        json!(-3),
        json!(1.5),
        json!(2.0),
        json!(1e20),
        json!(u64::MAX),
        json!(null),
        json!(true),
        json!([]),
        json!({}),
    ]);
    leaf.prop_recursive(3, 12, 3, |inner| {
        let key = prop::sample::select(vec!["a", "b", "c", "type"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Json::from),
            prop::collection::btree_map(key, inner, 0..3).prop_map(|members| json!(members)),
        ]
    })
}

#[test]
fn no_validator_is_made_for_what_a_tool_ordinarily_takes() {
    let schema = json!({"type": "object", "required": ["city"], "additionalProperties": false, "properties": {
        "city": {"type": "string", "minLength": 1, "maxLength": 80, "description": "a city", "format": "city"},
        "days": {"type": ["integer", "null"], "minimum": 1, "maximum": 14},
        "unit": {"enum": ["C", "F"], "default": "C"},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 4},
        "pattern": {"type": "string"},
        "near": {"anyOf": [{"type": "object", "properties": {"lat": {"type": "number"}}}, {"type": "null"}]}}});
    let schema = Schema::compile(schema.to_string().as_bytes(), false).expect("it is valid");
    let check = |arguments: Json| {
        let text = arguments.to_string();
        schema.check(Document::read(text.as_bytes()).root(), &mut Fuel::of_record(text.len()))
    };
    for arguments in [
        json!({"city": "Bern"}),
        json!({"city": "Bern", "days": 14, "unit": "F", "tags": ["a", "b"], "near": {"lat": 46.9}}),
        json!({"city": "Bern", "days": null, "near": null, "tags": []}),
    ] {
        assert_eq!(check(arguments), Verdict::Allowed);
    }
    assert!(schema.validator.get().is_none());
    for arguments in [
        json!({"city": ""}),
        json!({"city": "Bern", "days": 15}),
        json!({"city": "Bern", "unit": "K"}),
        json!({"city": "Bern", "tags": ["a", "b", "c", "d", "e"]}),
        json!({"city": "Bern", "near": {"lat": "north"}}),
        json!({"city": "Bern", "country": "CH"}),
        json!({}),
        json!("Bern"),
    ] {
        assert_eq!(check(arguments), Verdict::Violated);
    }
}

#[test]
fn a_look_ends_at_what_is_nested_deeply_and_at_references_that_branch() {
    let schema = json!({"type": ["array", "object"], "items": {"$ref": "#/$defs/list"}, "$defs": {"list":
        {"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#/$defs/list"}}, {"$ref": "#/$defs/other"}]},
        "other": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/list"}, {"$ref": "#/$defs/other"}]}}}});
    let schema = schema.to_string();
    for depth in [10, 100, 1_000] {
        let arguments = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        let document = Document::read(arguments.as_bytes());
        let checked = Schema::compile(schema.as_bytes(), false).expect("it is valid");
        let mut fuel = Fuel::of_record(arguments.len());
        let verdict = checked.check(document.root(), &mut fuel);
        assert!(matches!(verdict, Verdict::Violated | Verdict::TooSlow), "{depth}: {verdict:?}");
    }
}

#[test]
fn long_lists_of_keys_and_values_are_left_to_the_validator() {
    let check = |schema: Json, arguments: Json| {
        let (schema, text) = (schema.to_string(), arguments.to_string());
        let schema = Schema::compile(schema.as_bytes(), false).expect("it is valid");
        let document = Document::read(text.as_bytes());
        let verdict = schema.check(document.root(), &mut Fuel::of_record(1 << 20));
        (verdict, schema.validator.get().is_some())
    };
    let keys = |count: usize| (0..count).map(|key| format!("k{key}")).collect::<Vec<_>>();
    let all = |count: usize| Json::Object(keys(count).into_iter().map(|key| (key, Json::from(1))).collect());
    // What would be searched for 400 million times needs the validator, which has tables.
    let needs = |count: usize| check(json!({"type": "object", "required": keys(count)}), all(count));
    assert_eq!(needs(50), (Verdict::Allowed, false));
    assert_eq!(needs(20_000), (Verdict::Allowed, true));
    let values: Vec<Json> = (0..20_000).map(Json::from).collect();
    let among = |count: usize| {
        let schema = json!({"type": "object", "properties": {"a": {"items": {"enum": values}}}});
        check(schema, json!({"a": vec![19_999; count]}))
    };
    assert_eq!(among(400), (Verdict::Allowed, true));
}
