CREATE TABLE session (id TEXT, parent_id TEXT, revert TEXT, time_created INTEGER);
CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT);
INSERT INTO session VALUES ('ses_2', 'ses_1', NULL, 2), ('ses_1', NULL, '{"messageID": "msg_9"}', 1);
INSERT INTO message VALUES
  ('msg_2', 'ses_1', 2, '{"role": "assistant", "parentID": "msg_1"}'),
  ('msg_1', 'ses_1', 1, '{"role": "user"}'),
  ('msg_3', 'ses_2', 3, '{}');
INSERT INTO part VALUES
  ('prt_3', 'msg_2', 'ses_1', '{"type": "text", "text": "Nine."}'),
  ('prt_2', 'msg_2', 'ses_1', '{"type": "tool",' || char(10) || ' "callID": "call_1", "tool": "read", "state": {"status": "completed", "input": {}, "output": "9"}}'),
  ('prt_1', 'msg_1', 'ses_1', '{"type": "text", "text": "Count"}'),
  ('prt_4', 'msg_3', 'ses_2', '{"type": "text", "text": ');
