export default {
  test: {
    setupFiles: ["toolcheck/vitest"],
    exclude: ["test/failing/**", "**/node_modules/**"],
    testTimeout: 60_000,
  },
};
