export default { test: { include: ["*.test.js"], setupFiles: ["vitest-toolcheck/setup"] } };
