export default { test: { include: ["*.test.mjs"], setupFiles: ["toolcheck/vitest"] } };
