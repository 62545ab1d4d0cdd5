//! What is observed of requests and templates.

use toolcheck_json::Document;
use toolcheck_template::{Arguments, Input, Kind, Origin, Part, Preparation, RefusalKind};

const TOOLS: &str = r#"[{"type": "function", "function": {"name": "tide", "description": "Says when the water is high.",
    "parameters": {"type": "object", "properties": {"place": {"type": "string", "description": "A place"}}}}}]"#;

fn body(messages: &str) -> String {
    format!(r#"{{"messages": [{messages}], "tools": {TOOLS}}}"#)
}

fn observed(name: &str, body: &str, arguments: Arguments) -> Vec<String> {
    let examination = super::examine(&super::named(name), body, arguments);
    let line = |found: &toolcheck_template::Observation| {
        let design = if found.by_design { " by design" } else { "" };
        format!("{:?} {:?} {}{}{design}", found.kind, found.part, found.pointer, found.inner)
    };
    examination.observations.iter().map(line).collect()
}

const ASK: &str = r#"{"role": "user", "content": "High water at Moss?"}"#;
const CALL: &str = r#"{"role": "assistant", "content": "", "tool_calls": [{"id": "tide00001", "type": "function",
    "function": {"name": "tide", "arguments": "{\"place\": \"Kragero\", \"days\": 2}"}}]}"#;
const RESULT: &str = r#"{"role": "tool", "tool_call_id": "tide00001", "content": "at nine"}"#;

#[test]
fn a_good_template_loses_nothing() {
    let good = body(&format!("{ASK}, {CALL}, {RESULT}, {ASK}"));
    for name in ["chatml", "xml_arguments", "macros"] {
        let expected: &[&str] = match name {
            "macros" => &["Loses Tool /tools/0/function/parameters/properties/place/description"],
            _ => &[],
        };
        // The same question twice is one text at two places, and no double.
        assert_eq!(observed(name, &good, Arguments::Parsed), expected, "{name}");
    }
}

#[test]
fn calls_are_lost() {
    let request = body(&format!("{ASK}, {CALL}, {RESULT}"));
    assert_eq!(observed("roles", &request, Arguments::Parsed), ["Loses Call /messages/1/tool_calls/0"]);
    let found = super::examine(&super::named("roles"), &request, Arguments::Parsed).observations;
    assert_eq!(found[0].note, "the template does not render tool calls");
    assert_eq!(
        observed("plain", &request, Arguments::Parsed),
        ["Loses Call /messages/1/tool_calls/0", "Loses Tool /tools"]
    );
}

#[test]
fn text_beside_a_call_is_lost() {
    let call = CALL.replace(r#""content": """#, r#""content": "I look it up.""#);
    let request = body(&format!("{ASK}, {call}, {RESULT}"));
    assert_eq!(
        observed("nine_characters", &request, Arguments::Parsed),
        ["Loses AssistantText /messages/1/content"]
    );
    assert_eq!(observed("chatml", &request, Arguments::Parsed), [""; 0]);
}

#[test]
fn the_second_call_is_lost() {
    let second = r#"}, {"id": "tide00002", "type": "function", "function": {"name": "tide", "arguments": "{\"place\": \"Horten\"}"}}]}"#;
    let calls = CALL.replace("}]}", second);
    let request = body(&format!("{ASK}, {calls}, {RESULT}"));
    assert!(
        observed("channels", &request, Arguments::Parsed)
            .contains(&"Loses Call /messages/1/tool_calls/1".to_owned())
    );
}

#[test]
fn an_argument_is_lost() {
    let source = "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls %}{{ c.function.name }}({{ c.function.arguments.place }}){% endfor %}{% endfor %}{{ tools }}";
    let request = body(&format!("{ASK}, {CALL}, {RESULT}"));
    let found = super::examine(&super::template(source), &request, Arguments::Parsed).observations;
    let [found] = &found[..] else { panic!("{found:?}") };
    assert_eq!((found.kind, found.part), (Kind::Loses, Part::Argument));
    assert_eq!((&*found.pointer, &*found.inner), ("/messages/1/tool_calls/0/function/arguments", "/days"));
}

#[test]
fn arguments_are_encoded_twice() {
    let request = body(&format!("{ASK}, {CALL}, {RESULT}"));
    let twice = ["Doubles Argument /messages/1/tool_calls/0/function/arguments"];
    assert_eq!(observed("chatml", &request, Arguments::AsGiven), twice);
    assert_eq!(observed("nine_characters", &request, Arguments::AsGiven), twice);
    assert_eq!(observed("thinking", &request, Arguments::AsGiven), ["Loses Tool /tools"]);
}

#[test]
fn a_text_is_printed_twice() {
    let source = "{% for m in messages %}{{ m.content }}{{ m.content }}{% endfor %}{{ tools }}";
    let found = super::examine(&super::template(source), &body(ASK), Arguments::Parsed).observations;
    assert_eq!((found.len(), found[0].kind), (1, Kind::Doubles));
}

#[test]
fn results_in_another_order() {
    let calls = CALL.replace("}]}", r#"}, {"id": "time00002", "type": "function", "function": {"name": "time", "arguments": "{\"place\": \"Horten\"}"}}]}"#);
    let other = r#"{"role": "tool", "tool_call_id": "time00002", "content": "half past"}"#;
    let swapped = body(&format!("{ASK}, {calls}, {other}, {RESULT}"));
    assert_eq!(observed("chatml", &swapped, Arguments::Parsed), ["Misbinds Result /messages/2"]);
    // This one prints the ids of calls and results.
    assert_eq!(observed("nine_characters", &swapped, Arguments::Parsed), [""; 0]);
    let ordered = body(&format!("{ASK}, {calls}, {RESULT}, {other}"));
    assert_eq!(observed("chatml", &ordered, Arguments::Parsed), [""; 0]);
    // So does this one with the names.
    let named = "{% for m in messages %}{% for c in m.tool_calls %}{{ c.function|tojson }}{% endfor %}{{ m.name }}: {{ m.content }}\n{% endfor %}{{ tools }}";
    let with_names = swapped
        .replace(
            r#""role": "tool", "tool_call_id": "time00002""#,
            r#""role": "tool", "name": "time", "tool_call_id": "time00002""#,
        )
        .replace(
            r#""role": "tool", "tool_call_id": "tide00001""#,
            r#""role": "tool", "name": "tide", "tool_call_id": "tide00001""#,
        );
    assert!(super::examine(&super::template(named), &with_names, Arguments::Parsed).observations.is_empty());
    assert_eq!(super::examine(&super::template(named), &swapped, Arguments::Parsed).observations.len(), 1);
}

#[test]
fn ids_that_a_template_makes() {
    let source = "{% for m in messages %}{% for c in m.tool_calls %}[functions.{{ c.function.name }}:{{ loop.index0 }}]{{ c.function.arguments }}\
                  {% endfor %}{{ m.tool_call_id }}: {{ m.content }}\n{% endfor %}{{ tools }}";
    let ids = |first: &str, second: &str| {
        let calls = CALL.replace("}]}", r#"}, {"id": "time00002", "type": "function", "function": {"name": "time", "arguments": "{}"}}]}"#);
        let other = r#"{"role": "tool", "tool_call_id": "time00002", "content": "half past"}"#;
        body(&format!("{ASK}, {calls}, {other}, {RESULT}"))
            .replace("tide00001", first)
            .replace("time00002", second)
    };
    let found =
        |body: &str| super::examine(&super::template(source), body, Arguments::Parsed).observations.len();
    assert_eq!(found(&ids("functions.tide:0", "functions.time:1")), 0);
    assert_eq!(found(&ids("call_1", "call_2")), 1);
}

#[test]
fn ids_that_become_numbers() {
    let numbered = |number: &str, result: &str| {
        format!(
            "{{% set ns = namespace(ids=[]) %}}{{% for m in messages %}}{{% for c in m.tool_calls %}}{{% set ns.ids = ns.ids + [c.id] %}}\
             {number}{{{{ c.function }}}}{{% endfor %}}{{% if m.role == 'tool' %}}{result}{{% endif %}}{{{{ m.content }}}}\n{{% endfor %}}{{{{ tools }}}}"
        )
    };
    let calls = CALL.replace("}]}", r#"}, {"id": "tide00002", "type": "function", "function": {"name": "tide", "arguments": "{\"place\": \"Moss\"}"}}]}"#);
    let other = r#"{"role": "tool", "tool_call_id": "tide00002", "content": "at ten"}"#;
    let swapped = body(&format!("{ASK}, {calls}, {other}, {RESULT}"));
    let found = |source: &str| {
        super::examine(&super::template(source), &swapped, Arguments::Parsed).observations.len()
    };
    let number = "{% for i in ns.ids %}{% if i == m.tool_call_id %}{{ loop.index }}: {% endif %}{% endfor %}";
    assert_eq!(found(&numbered("{{ ns.ids|length }}.", number)), 0);
    // An id that only the result has says nothing.
    assert_eq!(found(&numbered("", "{{ m.tool_call_id }}")), 1);
    assert_eq!(found(&numbered("{{ c.id }}", "")), 1);
    assert_eq!(found(&numbered("", "")), 1);
}

#[test]
fn none_is_printed() {
    let call = CALL.replace(r#""content": """#, r#""content": null"#);
    let request = body(&format!("{ASK}, {call}, {RESULT}"));
    assert_eq!(observed("macros", &request, Arguments::Parsed).len(), 1);
    let source =
        "{% for m in messages %}{{ m.role ~ m.content }}{{ m.tool_calls }}{% endfor %}{{ tools }}None";
    let found = super::examine(&super::template(source), &request, Arguments::Parsed).observations;
    assert_eq!(
        (found.len(), found[0].kind, &*found[0].pointer),
        (1, Kind::PrintsNone, "/messages/1/content")
    );
}

#[test]
fn old_reasoning_is_lost_by_design() {
    let thinking = r#"{"role": "assistant", "content": "Two.", "reasoning_content": "One and one."}"#;
    let in_text = r#"{"role": "assistant", "content": "<think>\nHm, hm.\n</think>\n\nThree."}"#;
    let request = body(&format!("{ASK}, {thinking}, {ASK}, {in_text}, {ASK}"));
    assert_eq!(
        observed("thinking", &request, Arguments::Parsed),
        [
            "Loses Reasoning /messages/1/reasoning_content by design",
            "Loses Reasoning /messages/3/content by design",
            "Loses Tool /tools"
        ]
    );
    let last = body(&format!("{ASK}, {thinking}"));
    assert_eq!(observed("thinking", &last, Arguments::Parsed), ["Loses Tool /tools"]);
    assert_eq!(
        observed("chatml", &last, Arguments::Parsed),
        ["Loses Reasoning /messages/1/reasoning_content"]
    );
}

#[test]
fn the_message_with_which_it_refuses() {
    let request = body(&format!("{ASK}, {CALL}, {RESULT}, {ASK}"));
    let examination = super::examine(&super::named("alternating"), &request, Arguments::Parsed);
    assert_eq!(examination.refusal.unwrap().message, "The roles must alternate: user, assistant, user, ...");
    let [found] = &examination.observations[..] else { panic!() };
    assert_eq!((found.kind, &*found.pointer), (Kind::Refuses, "/messages/2"));
    // The longer way for a long conversation.
    let long = body(
        &format!("{}{CALL}, {RESULT}, {ASK}", format!("{ASK}, {CALL}, ").repeat(40))
            .replace("}, {CALL}", "}"),
    );
    let found = super::examine(&super::named("alternating"), &long, Arguments::Parsed).observations;
    assert_eq!(found[0].pointer, "/messages/80");
}

#[test]
fn white_space_is_no_loss() {
    let request =
        body(r#"{"role": "user", "content": "  \n hello \n "}, {"role": "assistant", "content": " \n"}"#);
    assert_eq!(observed("alternating", &request, Arguments::Parsed), ["Loses Tool /tools"]);
}

#[test]
fn nothing_is_known_of_what_is_not_supported() {
    let examination = super::examine(&super::template("{% include 'x' %}"), &body(ASK), Arguments::Parsed);
    assert!(examination.observations.is_empty() && !examination.refusal.unwrap().kind.is_certain());
}

#[test]
fn segments_name_their_parts() {
    let request = body(&format!("{ASK}, {CALL}"));
    let document = Document::read(request.as_bytes());
    let input = Input { add_generation_prompt: false, ..super::input(&document) };
    let template = super::named("chatml");
    let prompt = template.render(&input).unwrap().text;
    let segments = template.segments(&input).unwrap();
    let of = |wanted: &str| -> Vec<&str> {
        let is_it = |origin: &Origin| matches!(origin, Origin::Part { pointer, inner } if format!("{pointer}{inner}") == wanted);
        segments
            .iter()
            .filter(|segment| is_it(&segment.origin))
            .map(|segment| &prompt[segment.range.clone()])
            .collect()
    };
    assert_eq!(of("/messages/0/content"), ["High water at Moss?"]);
    assert_eq!(of("/messages/1/tool_calls/0/function/name"), ["tide"]);
    assert_eq!(of("/messages/1/tool_calls/0/function/arguments/place"), ["Kragero"]);
    assert_eq!(of("/messages/1/tool_calls/0/function/arguments"), ["{\"place\": \"", "\", \"days\": 2}"]);
    let tokens = segments.iter().filter(|segment| segment.origin == Origin::SpecialToken);
    assert_eq!(tokens.map(|segment| &prompt[segment.range.clone()]).next(), Some("<|im_start|>"));
}

#[test]
fn a_server_prepares_messages() {
    let parts = r#"{"role": "user", "content": [{"type": "text", "text": "One part."}, {"type": "text", "text": "Another."}]}"#;
    let call = CALL.replace(r#""content": """#, r#""content": null"#);
    let request = body(&format!("{parts}, {call}, {RESULT}"));
    let document = Document::read(request.as_bytes());
    let given = super::input(&document);
    let prepared = Input { preparation: Preparation::Vllm, ..given };
    assert_eq!(super::named("chatml").examine(&given).observations[0].kind, Kind::Refuses);
    assert_eq!(super::named("chatml").examine(&prepared).observations, []);
    let prompt = super::named("chatml").render(&prepared).unwrap().text;
    assert!(prompt.contains("user\nOne part.\nAnother.<"), "{prompt}");
    let through_parts =
        "{% for m in messages %}{% for p in m.content %}[{{ p.text }}]{% endfor %}{% endfor %}";
    let prompt = super::template(through_parts).render(&prepared).unwrap().text;
    assert_eq!(prompt, "[One part.][Another.][][][][][][][]", "a result stays a text");
}

/// What llama.cpp makes of the messages for a template, and what is observed of it.
fn adapted(source: &str, messages: &str) -> (String, Vec<(Kind, Part)>) {
    let request = body(messages);
    let document = Document::read(request.as_bytes());
    let input = Input { preparation: Preparation::LlamaCpp, ..super::input(&document) };
    let template = super::template(source);
    let prompt = template.render(&input).map_or_else(|refusal| refusal.message, |prompt| prompt.text);
    let found = template.examine(&input).observations.into_iter();
    (prompt, found.map(|found| (found.kind, found.part)).collect())
}

#[test]
fn a_server_adapts_messages_to_a_template() {
    const ROLES: &str = "{% for m in messages %}{% if m.role not in ['user', 'assistant', 'tool'] + more %}\
        {{ raise_exception('Unexpected role ' ~ m.role) }}{% endif %}<{{ m.role }}>{{ m.content }}{% endfor %}{{ tools }}";
    let roles =
        |more: &str| ROLES.replace("more", more).replace("{{ tools }}", "{% if not tools %}{% endif %}");
    let told = |role: &str| format!(r#"{{"role": "{role}", "content": "Be brief."}}, {ASK}"#);
    let lost = vec![(Kind::Loses, Part::Tool)];
    for role in ["developer", "system"] {
        let (prompt, found) = adapted(&roles("['system']"), &told(role));
        assert_eq!((&*prompt, &found), ("<system>Be brief.<user>High water at Moss?", &lost));
        let (prompt, found) = adapted(&roles("[]"), &told(role));
        assert_eq!((&*prompt, &found), ("<user>Be brief.\nHigh water at Moss?", &lost));
    }
    // A template with channels knows developers.
    let channels = format!("{}<|channel|>", roles("['system']"));
    assert_eq!(adapted(&channels, &told("developer")).1, [(Kind::Refuses, Part::Message)]);
    // A template that refuses everything gets what there is, and a later message is not moved.
    let refusal = "{{ raise_exception('No.') }}";
    assert_eq!(adapted(refusal, &told("system")).0, "No.");
    assert_eq!(adapted(&roles("[]"), &format!("{ASK}, {}", told("system"))).0, "Unexpected role system");
    // It is not moved if the template reads it in another form, either.
    let in_parts = "{{ messages[0].content[0].text }}{% for m in messages[1:] %}{{ m.content }}{% endfor %}";
    let (prompt, found) = adapted(in_parts, &told("system"));
    assert_eq!(prompt, "High water at Moss?");
    assert!(found.contains(&(Kind::Loses, Part::SystemText)), "{found:?}");
    // Nobody is told what a system message alone says.
    assert!(
        adapted(&roles("[]"), r#"{"role": "system", "content": "Be brief."}"#)
            .1
            .contains(&(Kind::Loses, Part::SystemText))
    );
}

#[test]
fn a_server_adapts_arguments_and_parts_to_a_template() {
    let calls = format!("{ASK}, {CALL}, {RESULT}");
    let with = |arguments: &str| {
        format!(
            "{{% for m in messages %}}{{{{ m.content }}}}{{% for c in m.tool_calls %}}{{{{ c.function.name ~ {arguments} }}}}{{% endfor %}}{{% endfor %}}{{{{ tools|tojson }}}}"
        )
    };
    let (prompt, found) = adapted(&with("' ' + c.function.arguments"), &calls);
    assert!(
        prompt.contains(r#"tide {"place": "Kragero", "days": 2}at nine"#) && found.is_empty(),
        "{prompt}"
    );
    let each =
        "'' }}{% for key, value in c.function.arguments.items() %}/{{ key }}={{ value }}{% endfor %}{{ ''";
    let (prompt, found) = adapted(&with(each), &calls);
    assert!(prompt.contains("tide/place=Kragero/days=2at nine") && found.is_empty(), "{prompt}");

    let parts = r#"{"role": "user", "content": [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}]}"#;
    let messages = format!("{parts}, {ASK}");
    let contents = |content: &str| format!("{{% for m in messages %}}{content}{{% endfor %}}");
    let prompt = |content: &str| adapted(&contents(content), &messages).0;
    assert_eq!(prompt("{{ m.content + '/' }}"), "One.\nTwo./High water at Moss?/");
    assert_eq!(
        prompt("{% for p in m.content %}{{ p['text'] + '/' }}{% endfor %}"),
        "One./Two./High water at Moss?/"
    );
    let both = "{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}{{ p.text }}/{% endfor %}{% endif %}";
    assert_eq!(prompt(both), "One./Two./High water at Moss?");
}

#[test]
fn llama_cpp_has_a_jinja_of_its_own() {
    let render = |source: &str, request: &str| {
        let document = Document::read(request.as_bytes());
        let input =
            Input { preparation: Preparation::LlamaCpp, ..Input::of_request(document.root()).unwrap() };
        let template = toolcheck_template::Template::from_text(source, &[]);
        template.render(&input).map_or_else(|refusal| refusal.message, |prompt| prompt.text)
    };
    let bare = r#"{"messages": [{"role": "user", "content": "Hi"}], "tools": [{"type": "function", "strict": true,
        "function": {"name": "tide"}}]}"#;
    for (expected, source) in [
        (
            r#"tide/{"type": "function", "function": {"name": "tide", "description": "", "parameters": {}}}"#,
            "{{ tools[0].function.name ~ '/' }}{{ tools[0]|tojson }}",
        ),
        (
            r#"[{"name": "tide", "description": "", "parameters": {}}]"#,
            "{{ tools|map(attribute='function')|tojson }}",
        ),
        ("/", "{{ bos_token }}/{{ eos_token }}"),
        ("", "{% for d in documents.of.no.kind %}x{% endfor %}"),
        ("-  -", "{{ '- ' + nothing + none + ' -' }}"),
        ("-5", "{{ '-' + 5 }}"),
        // Neither none nor an object is printed, and a list without its brackets.
        ("()(1a2)", "({{ none }}{{ {'a': 1} }})({{ [1, none, ['a', 2]] }})"),
        ("b.", "{{ none|default('b') }}{{ none ~ '.' }}"),
        ("True", "{{ enable_thinking }}"),
        (
            "12/1/2",
            "{% set q = [1] %}{% set same = q %}{% set _ = q.append(2) %}{{ same }}/{{ q.pop(0) }}/{{ q.pop() }}",
        ),
        (
            "3",
            "{% set n = namespace(q=[]) %}{% for i in range(3) %}{% set _ = n.q.append(i) %}{% endfor %}{{ n.q|length }}",
        ),
        ("Index out of bounds", "{% set q = [] %}{{ q.pop() }}"),
        ("Expected iterable or object type in for loop: got str", "{% for c in 'ab' %}{{ c }}{% endfor %}"),
        ("changing a list without a name", "{{ [1].append(2) }}"),
    ] {
        assert_eq!(render(source, bare), expected, "{source}");
    }
    let without = r#"{"messages": [{"role": "user", "content": "Hi"}], "tools": []}"#;
    assert_eq!(render("{% for t in tools %}{% endfor %}{{ tools is defined }}", without), "False");
}

/// What llama.cpp changes for the templates of some families.
#[test]
fn llama_cpp_rewrites_messages_for_families_of_templates() {
    let thought = r#"{"role": "assistant", "content": "So:", "reasoning_content": "Spring tide."}"#;
    let messages = format!("{ASK}, {thought}");
    let loses = |source: &str| {
        let found = adapted(&format!("{source}{{{{ tools|tojson }}}}"), &messages).1;
        found.contains(&(Kind::Loses, Part::Reasoning))
    };
    let thinking = "{% for m in messages %}{{ m.content }}{{ m.thinking }}{% endfor %}";
    assert!(loses(thinking));
    assert!(!loses(&format!("<|channel|>{thinking}")) && !loses(&format!("List of tools: [{thinking}")));
    let parts = "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}\
        {% for p in m.content %}{{ p.text }}{{ p.thinking }}{% endfor %}{% endif %}{% endfor %}";
    assert!(loses(parts) && !loses(&format!("[SYSTEM_PROMPT][TOOL_CALLS][ARGS]{parts}")));

    let two = CALL.replace("\"tool_calls\": [", "\"tool_calls\": [{\"id\": \"tide00002\", \"type\": \"function\", \"function\": {\"name\": \"tide\", \"arguments\": \"{\\\"place\\\": \\\"Moss\\\"}\"}}, ");
    let other = RESULT.replace("00001", "00002").replace("nine", "ten");
    let swapped = format!("{ASK}, {two}, {RESULT}, {other}");
    // The text beside a call is not given to templates of Gemma 4.
    let beside = CALL.replace(r#""content": """#, r#""content": "I look.""#);
    let turn = format!("{ASK}, {beside}, {}, {thought}", RESULT.replace("at nine", r#"{\"at\": 9}"#));
    let gemma = "{# '<|tool_call>call:' #}{% for m in messages %}{{ m.content }}{{ m.reasoning_content }}\
        {% for c in m.tool_calls %}{{ c.function|tojson }}{% endfor %}\
        {% for r in m.tool_responses %}<{{ r.name }}={{ r.response.at }}>{% endfor %}{% endfor %}{{ tools|tojson }}";
    let (prompt, found) = adapted(gemma, &turn);
    assert!(prompt.contains("<tide=9>") && prompt.contains("So:"), "{prompt}");
    assert_eq!(found, [(Kind::Loses, Part::AssistantText), (Kind::Loses, Part::Reasoning)]);
    // An integer that needs the bit of the sign.
    let large = CALL.replace("2}", "12345678901234567890}");
    let (prompt, found) = adapted(gemma, &format!("{ASK}, {large}"));
    assert!(prompt.contains("-6101065172474983726"), "{prompt}");
    assert_eq!(found, [(Kind::Loses, Part::Argument)]);
    let plain = "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls %}{{ c.function|tojson }}{% endfor %}{% endfor %}\
        {{ tools|tojson }}";
    let misbinds = |source: &str| adapted(source, &swapped).1.contains(&(Kind::Misbinds, Part::Result));
    assert!(misbinds(plain) && !misbinds(&format!("{{% set dsml_token = 'DSML' %}}tool_calls{plain}")));
}

#[test]
fn a_server_gives_a_template_images_as_its_own_parts_or_as_text() {
    let image = r#"{"role": "user", "content": [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]}"#;
    let request = body(image);
    let document = Document::read(request.as_bytes());
    let prepared = Input { preparation: Preparation::Vllm, ..super::input(&document) };
    let through_parts =
        "{% for p in messages[0].content %}[{{ p.type }}{{ p.image_url }}{{ p.text }}]{% endfor %}";
    let prompt = super::template(through_parts).render(&prepared).unwrap().text;
    assert_eq!(prompt, "[textWhat is it?][image]");
    // The text in the place of the image depends on the model: nothing is said, and no prompt shown.
    let as_text =
        super::template("{{ tools|tojson }}{% for m in messages %}{{ m.content + '!' }}{% endfor %}");
    assert_eq!(as_text.examine(&prepared).observations, []);
    assert_eq!(as_text.render(&prepared).unwrap_err().kind, RefusalKind::Unsupported);
    assert_eq!(as_text.segments(&prepared).unwrap_err().kind, RefusalKind::Unsupported);
}

#[test]
fn a_call_in_the_old_form_and_a_refusal_are_lost() {
    let call = r#"{"role": "assistant", "content": null, "function_call": {"name": "tide", "arguments": "{\"place\": \"Moss\"}"}}"#;
    let refusal = r#"{"role": "assistant", "content": null, "refusal": "I would rather not."}"#;
    let request = body(&format!("{ASK}, {call}, {refusal}"));
    let document = Document::read(request.as_bytes());
    let template =
        super::template("{{ tools|tojson }}{% for m in messages %}{{ m.content or '' }}{% endfor %}");
    let found = template.examine(&super::input(&document)).observations;
    let found: Vec<_> = found.iter().map(|found| (&*found.pointer, found.part, &*found.note)).collect();
    let expected = [
        ("/messages/1/function_call", Part::Call, "the template does not render `function_call`"),
        ("/messages/2/refusal", Part::AssistantText, "the template does not render `refusal`"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_is_not_trained_on() {
    let call = CALL.replace(r#""content": """#, r#""content": "I look.""#);
    let row = body(&format!("{ASK}, {call}, {RESULT}"));
    let untrained = |name: &str| {
        let document = Document::read(row.as_bytes());
        let input = Input { is_training: true, ..Input::of_request(document.root()).unwrap() };
        let found = super::named(name).examine(&input).observations.into_iter();
        let found = found.filter(|found| found.kind == Kind::Untrained);
        found.map(|found| (found.part, found.pointer)).collect::<Vec<_>>()
    };
    assert_eq!(untrained("masked"), [(Part::Call, "/messages/1/tool_calls/0".to_owned())]);
    // Here, the text is in a block and calls are not printed at all; the others have no blocks.
    for name in ["plain", "chatml", "thinking"] {
        assert_eq!(untrained(name), [], "{name}");
    }
}
