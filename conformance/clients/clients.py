"""The drivers: how each is started, in which environment, and what its results do not say."""

import os
import sys
from dataclasses import dataclass

FOLDER = os.path.dirname(os.path.abspath(__file__))
EIGHT = ["anthropic", "bedrock-converse", "cohere", "gemini", "mistral", "ollama", "openai-chat", "openai-responses"]

# What a client that compacts does otherwise than without.
COMPACTION = "compaction-before-results,compaction-twice,resume-after-compaction,context-too-long"
INTERRUPTION = "interrupt-in-parallel-turn,resume-after-interrupt"
AI_SDK = [
    "ai",
    "@ai-sdk/amazon-bedrock",
    "@ai-sdk/anthropic",
    "@ai-sdk/cohere",
    "@ai-sdk/google",
    "@ai-sdk/mistral",
    "@ai-sdk/openai",
    "ollama-ai-provider-v2",
]


@dataclass
class Client:
    """A driver."""

    # Its name here and, unless `environment` is another, that of its requirements.
    name: str
    # The file of the driver, and what stands after it on the command line.
    driver: str
    arguments: str
    # The packages whose versions the page has; the first is the framework.
    packages: list
    formats: list
    # For the page: which options are not the defaults, and what is left out for which reason.
    notes: list
    environment: str = ""
    # What tells it from another client of the same package.
    variant: str = ""
    # The scenarios that it is run in, with commas between them; all if there are none.
    only: str = ""
    # A file in `profiles`, if the agent has tools of its own.
    profile: str = ""

    def folder(self, environments):
        return os.path.join(environments, self.environment or self.name)

    def command(self, environments):
        folder = self.folder(environments)
        if self.driver.endswith(".mjs"):
            return f"node {os.path.join(folder, os.path.basename(self.driver))} {self.arguments}".strip()
        return f"{python_of(folder)} {os.path.join(FOLDER, self.driver)} {self.arguments}".strip()


def python_of(folder):
    inner = ("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")
    return os.path.join(folder, *inner)


CLIENTS = [
    Client(
        "pydantic-ai",
        "pydantic_ai_agent.py",
        "",
        ["pydantic-ai-slim", "anthropic", "boto3", "cohere", "google-genai", "mistralai", "openai"],
        [form for form in EIGHT if form != "ollama"],
        [
            "The history is continued as documented: `message_history`, and `capture_run_messages` around a run that may fail.",
            "It speaks to Ollama by Chat Completions, so that `ollama` is left out.",
        ],
    ),
    Client(
        "openai-agents",
        "openai_agents.py",
        "",
        ["openai-agents", "openai"],
        ["openai-chat", "openai-responses"],
        [
            "The conversation is a session.",
            "Set: `strict_mode=False` for the tools, because strict schemas make the argument of `optional` a required one.",
        ],
    ),
    Client(
        "openai-agents-previous",
        "openai_agents.py",
        "previous",
        ["openai-agents", "openai"],
        ["openai-responses"],
        ["The same, with `auto_previous_response_id=True`: each request continues from the response before it."],
        environment="openai-agents",
        variant="previous response",
    ),
    Client(
        "openai-agents-conversation",
        "openai_agents.py",
        "conversation",
        ["openai-agents", "openai"],
        ["openai-responses"],
        ["The same, with a `conversation_id`: the server keeps the conversation."],
        environment="openai-agents",
        variant="conversation",
    ),
    Client(
        "agent-framework",
        "agent_framework_agent.py",
        "",
        ["agent-framework-core", "agent-framework-openai", "openai"],
        ["openai-chat", "openai-responses"],
        ["An `Agent` with a session. On Responses, each request continues from the response before it, as is the default."],
    ),
    Client(
        "anthropic-tool-runner",
        "anthropic_runner.py",
        "",
        ["anthropic"],
        ["anthropic"],
        ["`client.beta.messages.tool_runner`; the history of the next run is what the runner had."],
        variant="tool runner",
    ),
    Client(
        "anthropic-tool-runner-js",
        "javascript/anthropic_runner.mjs",
        "",
        ["@anthropic-ai/sdk"],
        ["anthropic"],
        ["`client.beta.messages.toolRunner`; the history of the next run is what the runner had."],
        environment="javascript",
        variant="tool runner",
    ),
    Client(
        "openai-run-tools",
        "javascript/openai_runner.mjs",
        "",
        ["openai"],
        ["openai-chat"],
        ["`client.chat.completions.runTools`; the history of the next run is `runner.messages`, also if it failed."],
        environment="javascript",
        variant="runTools",
    ),
    Client(
        "openai-agents-js",
        "javascript/openai_agents.mjs",
        "",
        ["@openai/agents", "openai"],
        ["openai-chat", "openai-responses"],
        [
            "The conversation is a `MemorySession`.",
            "Set: `strict: false` for the tools, because strict schemas make the argument of `optional` a required one.",
        ],
        environment="javascript",
    ),
    Client(
        "langchain-js",
        "javascript/langchain_agent.mjs",
        "",
        [
            "langchain",
            "@langchain/core",
            "@langchain/langgraph",
            "@langchain/anthropic",
            "@langchain/aws",
            "@langchain/google-genai",
            "@langchain/mistralai",
            "@langchain/ollama",
            "@langchain/openai",
        ],
        [form for form in EIGHT if form != "cohere"],
        [
            "`createAgent` with a `MemorySaver`; its models for Mistral and Ollama stream always.",
            "Set: the client for Bedrock, whose own accepts no address over `http`.",
        ],
        environment="javascript",
        variant="JavaScript",
    ),
    Client(
        "mastra",
        "javascript/mastra_agent.mjs",
        "",
        ["@mastra/core", "@ai-sdk/anthropic", "@ai-sdk/google", "@ai-sdk/mistral", "@ai-sdk/openai"],
        ["anthropic", "gemini", "mistral", "openai-chat", "openai-responses"],
        ["An `Agent`; the messages of each response are added to the conversation."],
        environment="javascript",
    ),
    Client(
        "google-genai",
        "google_genai_chat.py",
        "",
        ["google-genai"],
        ["gemini"],
        ["A chat with automatic function calling; the history of the next run is the chat's."],
        variant="automatic calling",
    ),
    Client(
        "haystack",
        "haystack_agent.py",
        "",
        [
            "haystack-ai",
            "anthropic-haystack",
            "cohere-haystack",
            "mistral-haystack",
            "ollama-haystack",
            "anthropic",
            "openai",
        ],
        ["anthropic", "cohere", "mistral", "ollama", "openai-chat", "openai-responses"],
        [
            "An `Agent`; the messages of each run are those of the next.",
            "Left out: its generators for Bedrock and Gemini, which have no option for the address.",
        ],
    ),
    Client(
        "llm",
        "llm_chain.py",
        "",
        ["llm", "llm-anthropic", "anthropic", "openai"],
        ["anthropic", "openai-chat", "openai-responses"],
        [
            "A conversation, whose `chain` calls tools.",
            "Left out: its plugin for Gemini, which has no option for the address.",
        ],
    ),
    Client(
        "semantic-kernel",
        "semantic_kernel_agent.py",
        "",
        ["semantic-kernel", "openai"],
        ["openai-chat"],
        ["A `ChatCompletionAgent` with a `ChatHistoryAgentThread`."],
    ),
    Client(
        "langchain",
        "langchain_agent.py",
        "",
        [
            "langchain",
            "langchain-core",
            "langgraph",
            "langchain-anthropic",
            "langchain-aws",
            "langchain-google-genai",
            "langchain-mistralai",
            "langchain-ollama",
            "langchain-openai",
        ],
        [form for form in EIGHT if form != "cohere"],
        ["`create_agent` with an `InMemorySaver`; its model for Ollama streams always."],
    ),
    Client(
        "langchain-summarizing",
        "langchain_agent.py",
        "summarizing",
        ["langchain", "langchain-core", "langchain-anthropic", "langchain-aws", "langchain-google-genai", "langchain-openai"],
        ["anthropic", "bedrock-converse", "gemini", "openai-chat", "openai-responses"],
        [
            "The same, with `SummarizationMiddleware`, in the scenarios about a full context alone.",
            "Set: it summarises from 100,000 tokens on, and keeps two messages; by default it never does.",
            "It has no way to know the tokens of a stream of Chat Completions from a server with another address, and summarises nothing there.",
        ],
        environment="langchain",
        variant="SummarizationMiddleware",
        only=COMPACTION,
    ),
    Client(
        "smolagents",
        "smolagents_agent.py",
        "",
        ["smolagents", "openai"],
        ["openai-chat"],
        [
            "A `ToolCallingAgent`, whose memory is kept with `reset=False`.",
            "It ends only when the model calls its tool `final_answer`: it is run with a profile in which it does.",
            "It sends the calls and their results as text: that is named, the checks read no more of it, and runs without a finding count as `skip`. The exchanges of `broken-arguments` show a tool that ran with `{\"text\": \"on`, the text that the model never finished, as its argument.",
            "Left out: its model for Bedrock, which accepts no tools (`Unknown parameter in input: \"tools\"`).",
        ],
        profile="smolagents.toml",
    ),
    Client(
        "strands-agents",
        "strands_agent.py",
        "",
        ["strands-agents", "anthropic", "boto3", "google-genai", "mistralai", "ollama", "openai"],
        [form for form in EIGHT if form != "cohere"],
        ["An `Agent` that is called again. Its models for Anthropic, Gemini, Ollama and Responses stream always."],
        environment="strands",
    ),
    Client(
        "strands-summarizing",
        "strands_agent.py",
        "summarizing",
        ["strands-agents", "anthropic", "boto3", "google-genai", "mistralai", "ollama", "openai"],
        [form for form in EIGHT if form != "cohere"],
        [
            "The same, with a `SummarizingConversationManager`, in the scenarios about a full context alone.",
            "Set: `proactive_compression=True`, a window of 200,000 tokens, half of the messages, and two that are kept; by default it summarises once a request was refused for its length.",
        ],
        environment="strands",
        variant="SummarizingConversationManager",
        only=COMPACTION,
    ),
    Client(
        "agno",
        "agno_agent.py",
        "",
        ["agno", "anthropic", "aioboto3", "cohere", "google-genai", "mistralai", "ollama", "openai"],
        EIGHT,
        [
            "An `Agent` with a session in an `InMemoryDb`.",
            "Set: `add_history_to_context=True`, without which it forgets what was said, and `telemetry=False`.",
        ],
    ),
    Client(
        "llama-index",
        "llama_index_agent.py",
        "",
        [
            "llama-index-core",
            "llama-index-llms-anthropic",
            "llama-index-llms-bedrock-converse",
            "llama-index-llms-google-genai",
            "llama-index-llms-mistralai",
            "llama-index-llms-ollama",
            "llama-index-llms-openai",
            "anthropic",
            "openai",
        ],
        [form for form in EIGHT if form != "cohere"],
        [
            "A `FunctionAgent` with a `Memory`.",
            "Set: the context windows of Gemini and Ollama, which it asks the server for else.",
            "With the current SDK of Anthropic (2.12.0) it cannot say anything to that API (`TypeError: Cannot instantiate typing.Union`): it was run with an older one.",
            "Left out: its model for Cohere, which speaks the first version of that API.",
        ],
    ),
    Client(
        "autogen",
        "autogen_agent.py",
        "",
        ["autogen-agentchat", "autogen-ext", "anthropic", "ollama", "openai"],
        ["anthropic", "ollama", "openai-chat"],
        [
            "An `AssistantAgent` with an `UnboundedChatCompletionContext`.",
            "Set: `max_tool_iterations=10`, as in its documentation; by default it calls tools once.",
            "With the current SDK of Anthropic (2.12.0) it cannot say anything to that API (`create() got an unexpected keyword argument 'temperature'`): it was run with an older one.",
        ],
    ),
    Client(
        "google-adk",
        "google_adk_agent.py",
        "",
        ["google-adk", "google-genai"],
        ["gemini"],
        ["An `LlmAgent` in a `Runner` with an `InMemorySessionService`."],
    ),
    Client(
        "google-adk-compacting",
        "google_adk_agent.py",
        "compacting",
        ["google-adk", "google-genai"],
        ["gemini"],
        [
            "The same, with an `EventsCompactionConfig`, in the scenarios about a full context alone.",
            "Set: it compacts from 100,000 tokens on, and keeps two events; by default it never does.",
        ],
        environment="google-adk",
        variant="event compaction",
        only=COMPACTION,
    ),
    Client(
        "ai-sdk-7",
        "javascript/ai_sdk_agent.mjs",
        "",
        AI_SDK,
        EIGHT,
        ["A `ToolLoopAgent`; the messages of each response are added to the conversation."],
        variant="version 7",
    ),
    Client(
        "ai-sdk",
        "javascript/ai_sdk_agent.mjs",
        "",
        AI_SDK,
        EIGHT,
        ["The same agent, with version 6."],
    ),
    Client(
        "ai-sdk-compatible",
        "javascript/ai_sdk_agent.mjs",
        "compatible",
        ["ai", "@ai-sdk/openai-compatible"],
        ["openai-chat"],
        ["The same agent as of version 7, with the provider for compatible servers."],
        environment="ai-sdk-7",
        variant="for compatible servers",
    ),
    *(
        Client(
            f"coding-agent-{name}",
            "javascript/coding_agent.mjs",
            name,
            [package],
            formats,
            [
                "The agent as a command, which goes on with its session; its shell takes the place of the tools. In the scenarios about a full context and an interruption alone.",
                *notes,
            ],
            environment="coding-agents",
            only=f"{COMPACTION},{INTERRUPTION}",
            profile=f"{name}.toml",
        )
        for name, package, formats, notes in [
            (
                "codex",
                "@openai/codex",
                ["openai-responses"],
                ["`codex exec`, and `resume --last`. Set: it compacts from 100,000 tokens on."],
            ),
            (
                "gemini-cli",
                "@google/gemini-cli",
                ["gemini"],
                ["`gemini -p`, and `--resume latest`. It counts the tokens itself, so that it compacts nothing here."],
            ),
            (
                "opencode",
                "opencode-ai",
                ["anthropic", "openai-chat"],
                ["`opencode run`, and `--continue`. Set: a window of 200,000 tokens."],
            ),
            (
                "pi",
                "@earendil-works/pi-coding-agent",
                ["anthropic", "openai-chat", "openai-responses"],
                ["`pi -p`, and `--continue`. Set: a window of 200,000 tokens, of which a compaction keeps 20, and no retries."],
            ),
        ]
    ),
]
