"""Tests of harvest.py, on recordings in a folder and a program of their own."""

import json
import sys
import tempfile
import unittest
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harvest

PROGRAM = """\
#!{python}
import json, sys
error = sys.argv[sys.argv.index("--error") + 1]
known = {{"id": "shape"}} if "tide" in error else None
json.dump({{"matches": ["a rule"] if "result" in error else [], "class": known}}, sys.stdout)
"""


class Harvest(unittest.TestCase):
    def test_errors_are_found_wherever_they_stand(self):
        error = {"error": {"message": "no moon", "code": 400}}
        inside = json.dumps({"log": {"text": json.dumps(error)}})
        self.assertEqual(list(map(json.loads, harvest.bodies_in(f"a line {json.dumps(error)} {inside}")))[0], error)
        self.assertIn(json.dumps(error), list(harvest.bodies_in(inside)))
        for fine in ['{"id": "1", "choices": []}', '{"type": "message", "content": []}', '{"error": null, "id": "resp_1"}']:
            self.assertEqual(list(harvest.bodies_in(fine)), [])

    def test_what_is_unknown_is_listed_once(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            program = folder / "program"
            program.write_text(PROGRAM.format(python=sys.executable))
            program.chmod(0o755)
            recordings = folder / "recordings"
            recordings.mkdir()
            texts = ["call_1 has no result", "the tide is high", "no moon at 12", "no moon at 13"]
            bodies = [json.dumps({"error": {"message": text}}) for text in texts]
            (recordings / "a.jsonl").write_text("\n".join(bodies))
            said = StringIO()
            arguments = ["harvest.py", "--program", str(program), "--output-format", "json", str(recordings)]
            with mock.patch.object(sys, "argv", arguments), redirect_stdout(said):
                self.assertEqual(harvest.main(), 1)
            report = json.loads(said.getvalue())
            self.assertEqual([report[key] for key in ("known_by_text", "known_by_words", "unknown")], [1, 1, 1])
            (row,) = report["errors"]
            self.assertEqual([row["error"], row["times"]], [bodies[2], 2])


if __name__ == "__main__":
    unittest.main()
