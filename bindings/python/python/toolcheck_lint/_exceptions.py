"""What the package raises of its own."""


class ToolcheckError(Exception):
    """The root of the exceptions of this package. Settings that can't be used are a `ValueError` or a `TypeError`."""
