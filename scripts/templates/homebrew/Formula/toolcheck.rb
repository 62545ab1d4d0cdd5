class Toolcheck < Formula
  desc "Linter for tool calls in requests to LLM APIs"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "@URL@/@PACKAGE@-aarch64-apple-darwin-v@VERSION@.tar.gz"
      sha256 "@SUM_AARCH64_APPLE_DARWIN@"
    end
    on_intel do
      url "@URL@/@PACKAGE@-x86_64-apple-darwin-v@VERSION@.tar.gz"
      sha256 "@SUM_X86_64_APPLE_DARWIN@"
    end
  end

  on_linux do
    on_arm do
      url "@URL@/@PACKAGE@-aarch64-unknown-linux-musl-v@VERSION@.tar.gz"
      sha256 "@SUM_AARCH64_UNKNOWN_LINUX_MUSL@"
    end
    on_intel do
      url "@URL@/@PACKAGE@-x86_64-unknown-linux-musl-v@VERSION@.tar.gz"
      sha256 "@SUM_X86_64_UNKNOWN_LINUX_MUSL@"
    end
  end

  def install
    bin.install "toolcheck"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/toolcheck.bash" => "toolcheck"
    fish_completion.install "completions/toolcheck.fish"
    zsh_completion.install "completions/_toolcheck"
  end

  test do
    assert_equal "toolcheck #{version}", shell_output("#{bin}/toolcheck --version").strip
    (testpath/"request.json").write '{"messages": [{"role": "user", "content": "hello"}]}'
    system bin/"toolcheck", "lint", "request.json"
  end
end
