// Adds the matchers to vitest's `expect`: import it in a test, or name it in `setupFiles`.

import { expect } from "vitest";
import toolcheck from "./index.js";

expect.extend({ toBeClean: toolcheck.toBeClean, toHaveFindings: toolcheck.toHaveFindings });

export { assertClean, assertFindings, call, calls, error, lint, provider, startProvider, text, ToolcheckError } from "./index.js";
