CREATE TABLE sessions (id TEXT, working_dir TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER, metadata_json TEXT);
INSERT INTO sessions VALUES ('20260302_1', '/home/ada');
INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES
  ('20260302_1', 'assistant', '[{"type": "toolRequest", "id": "c1", "toolCall": {"status": "success", "value": {"name": "shell", "arguments": {}}}}]', 2, '{"agentVisible": false}'),
  ('20260302_1', 'user', '[{"type": "text", "text": "Count"}]', 1, NULL),
  ('20260302_1', 'tool', '[]', 3, NULL);
