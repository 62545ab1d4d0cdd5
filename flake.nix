# `nix run github:toolcheck/toolcheck` builds the program from this revision.
{
  description = "Linter for tool calls in requests to LLM APIs";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      manifest = builtins.fromTOML (builtins.readFile ./Cargo.toml);
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      package =
        pkgs:
        pkgs.rustPlatform.buildRustPackage {
          pname = "toolcheck";
          version = manifest.workspace.package.version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          cargoBuildFlags = [ "--package=toolcheck-cli" "--features=tls" ];
          # They are run before a release, and need more than a sandbox has.
          doCheck = false;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = pkgs.lib.optionalString (pkgs.stdenv.buildPlatform.canExecute pkgs.stdenv.hostPlatform) ''
            $out/bin/toolcheck man man
            installManPage man/*
            installShellCompletion --cmd toolcheck \
              --bash <($out/bin/toolcheck completions bash) \
              --fish <($out/bin/toolcheck completions fish) \
              --zsh <($out/bin/toolcheck completions zsh)
          '';
          meta = {
            description = "Linter for tool calls in requests to LLM APIs";
            homepage = manifest.workspace.package.repository;
            license = [ pkgs.lib.licenses.mit pkgs.lib.licenses.asl20 ];
            mainProgram = "toolcheck";
          };
        };
    in
    {
      packages = nixpkgs.lib.genAttrs systems (system: {
        default = package nixpkgs.legacyPackages.${system};
      });
    };
}
