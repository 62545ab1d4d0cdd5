//! What is known by its start, and not read.

use toolcheck_core::unsupported::of_text;

#[test]
fn tables_are_known_by_their_starts() {
    // The footer of the second is encrypted.
    for (head, name) in [
        (&b"PAR1\x15\x04"[..], "a Parquet file"),
        (b"PARE\x15\x04", "a Parquet file"),
        (b"[parts {\n  text: \"Hi\"\n}\n, parts {", "messages of Protocol Buffers as text"),
        (b"parts {\n  function_call {\n", "messages of Protocol Buffers as text"),
        (b"\x64\0\0\0\0\0\0\0\x01\0\0\0{\"messages\": []}", "a TFRecord file"),
    ] {
        assert_eq!(of_text(head).map(|text| text.name), Some(name));
    }
}

/// The language that prints such values, if it is one that is known.
fn language_of(text: &str) -> Option<&'static str> {
    let name = of_text(text.as_bytes())?.name;
    let known = ["Ruby", "Elixir", "Go", "Rust", "Java"];
    name.split(' ').nth(1).filter(|language| known.contains(language))
}

#[test]
fn printed_values_are_known_by_their_starts() {
    for (text, language) in [
        (r#"[{:role=>"user", :content=>nil}]"#, "Ruby"),
        (r#"{"role" => "user"}"#, "Ruby"),
        (r#"[{role: "user", content: nil}]"#, "Ruby"),
        (r#"[%{role: "user"}]"#, "Elixir"),
        ("[map[content:When? role:user]]", "Go"),
        ("{Model:gpt-4o Messages:[{Role:user Content:When?}]}", "Go"),
        ("&{Model:gpt-4o}", "Go"),
        (r#"[Message { role: User, content: Some("When?") }]"#, "Rust"),
        ("ChatRequest {\n    model: \"gpt-4o\",\n    messages: [\n", "Rust"),
        (r#"Request { messages: [Message { role: User } ] }"#, "Rust"),
        (r#"Object {"model": String("gpt-4o")}"#, "Rust"),
        (r#"Array [Object {"role": String("user")}]"#, "Rust"),
        ("[{role=user, content=When?}]", "Java"),
        ("[Message[role=user, content=When?]]", "Java"),
        ("ChatCompletionCreateParams{model=gpt-4o}", "Java"),
        ("[Message(role=user, content=When?)]", "Java"),
    ] {
        assert_eq!(language_of(text), Some(language), "{text}");
    }
}

#[test]
fn other_texts_are_not_what_a_language_prints() {
    for text in [
        r#"{"role": "user", "a": ": nil, =>"}"#,
        r#"[{role: "user", content: "hi"}]"#,
        "[{ role: 'user', content: 'hi' }]",
        "{Model:\"a\"}",
        "{messages:[{role:\"user\"}]}",
        "Message { role: 'user', content: 'hi' }",
        "Message(role='user', content='hi')",
        "{role=\"user\"}",
        "[HumanMessage(content='hi')]",
        "AIMessage(content=[{'type': 'text'}])",
        "Usage(tokens=None, cost=1)",
        "FROM llama3\nPARAMETER num_ctx=4096",
        "Model: gpt-4o\nRole: user\n",
        "[2024-01-01] Started {a=b}",
        "map of the world: [a]",
        "",
        "[",
        "{\"",
    ] {
        assert_eq!(language_of(text), None, "{text}");
    }
}

#[test]
fn a_list_of_interactions_is_a_cassette_if_it_has_requests() {
    for (text, is_cassette) in [
        ("interactions:\n- request:\n    method: post\n", true),
        ("http_interactions:\n- recorded_at: now\n", true),
        ("interactions:\n- id: 1\n  inputs:\n  - When is high tide?\n", false),
    ] {
        let name = of_text(text.as_bytes()).map(|text| text.name);
        assert_eq!(name == Some("a YAML cassette of recorded HTTP requests"), is_cassette, "{text}");
    }
}
