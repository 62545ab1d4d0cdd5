// Adds the matchers to vitest's `expect`: import it in a test, or name it in `setupFiles`.

import { init } from "toolcheck-wasm";
import { expect } from "vitest";
import * as matchers from "./matchers.js";

// In vitest's browser mode the module is fetched.
await init();
expect.extend(matchers);
