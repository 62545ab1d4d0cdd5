// For `setupFiles` of vitest: adds `toLint` to `expect`.

import { expect } from "vitest";
import { toLint } from "./lint.js";

expect.extend({ toLint });
