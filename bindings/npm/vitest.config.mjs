export default {
  test: {
    setupFiles: ["vitest-toolcheck/setup"],
    exclude: ["test/failing/**", "**/node_modules/**"],
    testTimeout: 60_000,
  },
};
