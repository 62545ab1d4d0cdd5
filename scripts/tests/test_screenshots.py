"""Tests of screenshots.py: its agent loops differ in what the picture is about. Chromium is not needed."""

import struct
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import screenshots


class Loops(unittest.TestCase):
    def test_a_careful_loop_tells_the_model_what_went_wrong(self):
        for name, arguments, said in [
            ("echo", '{"text": "a"}', "got a"),
            ("none", "", "nothing to say"),
            ("echo", '{"text": "a', "Error: the arguments are not valid JSON"),
            ("vanished", "{}", "Error: there is no tool vanished"),
            ("fail", '{"text": "a"}', "Error: TOOL FAILED"),
        ]:
            self.assertTrue(screenshots.call_tool(name, arguments, True).startswith(said), name)

    def test_a_careless_loop_does_not(self):
        self.assertEqual(screenshots.call_tool("optional", '{"text": "a', False), "got DEFAULT")
        for name in ["fail", "vanished"]:
            with self.assertRaises(Exception):
                screenshots.call_tool(name, '{"text": "a"}', False)

    def test_each_tool_is_declared_with_its_arguments(self):
        for name in screenshots.TOOLS:
            parameters = screenshots.declared(name)["function"]["parameters"]
            required = parameters.get("required", [])
            self.assertEqual(set(required) <= set(parameters["properties"]), True)
            arguments = {key: "a" for key in required}
            if name != "fail":
                self.assertIsInstance(screenshots.TOOLS[name](**arguments), str)


class Pictures(unittest.TestCase):
    def test_the_pictures_are_there_and_small(self):
        for name in ["show.png", "matrix.png"]:
            made = (screenshots.IMAGES / name).read_bytes()
            self.assertLess(len(made), screenshots.LARGEST)
            self.assertEqual(screenshots.size(made)[0], 900)

    def test_only_a_png_has_a_size(self):
        self.assertEqual(screenshots.size(b"\x89PNG\r\n\x1a\n" + bytes(8) + struct.pack(">II", 3, 4)), (3, 4))
        with self.assertRaises(screenshots.Fault):
            screenshots.size(b"GIF89a" + bytes(20))


if __name__ == "__main__":
    unittest.main()
