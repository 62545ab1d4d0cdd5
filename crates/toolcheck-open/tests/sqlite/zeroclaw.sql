CREATE TABLE acp_sessions (session_id TEXT, workspace_dir TEXT, created_at TEXT, last_activity TEXT);
CREATE TABLE acp_messages (id INTEGER PRIMARY KEY, session_id TEXT, message_json TEXT, created_at TEXT);
INSERT INTO acp_sessions VALUES ('s1', '/home/ada', '2026-07-15', '2026-07-15');
INSERT INTO acp_messages VALUES
  (2, 's1', '{"type": "ToolResults", "data": [{"tool_call_id": "c1", "content": "9"}]}', '2026-07-15'),
  (1, 's1', '{"type": "Chat", "data": {"role": "user", "content": "Count"}}', '2026-07-15');
