"""What the agent may not touch, and what its user must look at twice.

All of it is judged on the real names of a file below the root (`Root.real`, P02), and as the most forgiving file system
would read them: letter case, compatibility forms and invisible characters do not count, nor do trailing dots and spaces
and what follows a colon, and a backslash separates (P06, P07). The tables are in the language of git's ignore files.

Sources: "Naming Files, Paths, and Namespaces" (Microsoft Learn); git's fsck checks for `.git` on NTFS and HFS+.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Final

from rio_core._engine.workspace.globs import Rules
from rio_core.protocol.visible import is_hidden

__all__ = ["looks_secret", "protected", "runs_later", "shapes_later", "unportable"]

_PROTECTED: Final = ".git .rio git~[0-9]* rio~[0-9]*"

_RUNS_LATER: Final = {
    "git obeys it": ".git* !.github !.gitkeep .husky .lefthook .pre-commit-config.yaml lefthook.y*ml",
    "a CI service runs it": """
        **/.github/workflows **/.github/actions action.y*ml .gitlab-ci.y*ml .gitlab .circleci azure-pipelines*.y*ml
        .azure-pipelines jenkinsfile* .travis.y*ml appveyor.y*ml .appveyor.y*ml .drone.y*ml .woodpecker* .buildkite
        bitbucket-pipelines.y*ml cloudbuild.y*ml .cirrus.y*ml .forgejo .gitea buildspec.y*ml .readthedocs.y*ml
        renovate.json* .renovaterc* """,
    "an editor or tool server runs it": """
        .vscode .idea .devcontainer .devcontainer.json devcontainer.json *.code-workspace .zed .fleet .nova .vim
        .exrc .nvimrc .nvim.lua .vimrc .lvimrc .dir-locals.el .dir-locals-2.el .projectile .sublime-project
        *.sublime-project *.sublime-build .mcp.json mcp.json """,
    "a shell runs it": """
        .envrc .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv
        .zprofile .zlogin .kshrc .cshrc .tcshrc .login config.fish profile.ps1 *profile.ps1 .tool-versions mise.toml
        .mise.toml .mise .inputrc .tmux.conf .direnv """,
    "Python runs it": """
        conftest.py setup.py setup.cfg pyproject.toml sitecustomize.py usercustomize.py *.pth *.egg-link tox.ini
        noxfile.py fabfile.py dodo.py pytest.ini .pytest.ini hatch.toml hatch_build.py pdm_build.py
        pyvenv.cfg requirements*.txt constraints*.txt pipfile .pdbrc .pythonstartup wscript """,
    "a package manager runs it": """
        package.json .npmrc .yarnrc* .yarn .pnpmfile.*js pnpm-workspace.yaml bunfig.toml deno.json* *.gemspec gemfile
        rakefile *.podspec podfile composer.json build.rs .cargo cargo.toml *.cabal mix.exs rebar.config
        package.swift flake.nix shell.nix default.nix """,
    "a JavaScript tool runs it": """
        *.config.js *.config.cjs *.config.mjs *.config.ts *.config.mts *.config.cts gulpfile.* gruntfile.*
        .eslintrc.*js .prettierrc.*js .babelrc.*js """,
    "a build runs it": """
        makefile makefile.* gnumakefile *.mk *.mak cmakelists.txt *.cmake cmakepresets.json configure configure.ac
        *.m4 meson.build build.ninja sconstruct sconscript build.gradle* settings.gradle* gradle.properties
        **/gradle/wrapper gradlew* init.gradle* pom.xml .mvn mvnw* build.xml build.sbt *.sbt build.bazel workspace.bazel
        module.bazel *.bzl .bazelrc *.csproj *.vbproj *.fsproj *.vcxproj *.props *.targets *.sln build.zig
        justfile .justfile taskfile.y*ml vagrantfile dockerfile* *.dockerfile containerfile* compose.y*ml
        compose.*.y*ml docker-compose*.y*ml procfile earthfile *.spec snapcraft.yaml **/debian/rules pkgbuild tiltfile
        skaffold.y*ml """,
}

_SHAPES_LATER: Final = """
    agents.md agent.md claude.md claude.local.md gemini.md skill.md .cursorrules .cursor .windsurfrules .windsurf
    .clinerules .roorules* .roo .rules .aider* .continue .claude .codex .gemini .junie .kiro .amazonq .augment
    copilot-instructions.md **/.github/instructions **/.github/prompts **/.github/agents *.prompt.md *.instructions.md
    *.chatmode.md """

_HOLDS_SECRETS: Final = """
    .env* *.env !.env.example !.env.*.example !.env-example !.env.sample !.env.template !.env.dist !.env.defaults
    !.envrc.example *.pem *.key *.p8 *.p12 *.pfx *.pkcs12 *.jks *.keystore *.kdb *.kdbx *.ppk *.ovpn *.tfstate
    *.tfstate.* *.tfvars id_rsa* id_dsa* id_ecdsa* id_ed25519* !id_*.pub .netrc _netrc .npmrc .pypirc .pgpass
    .my.cnf .htpasswd .git-credentials .dockercfg **/.docker/config.json **/.kube/config kubeconfig credentials
    credentials.json credentials.toml credentials.y*ml **/.aws/** **/.ssh/** **/.gnupg/** secrets.json secrets.toml
    secrets.y*ml secret.json secret.toml secret.y*ml client_secret*.json service-account*.json service_account*.json
    .vault-token .vault_pass* .terraformrc .boto .s3cfg """

_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9])")
_SHORT = re.compile(r"[^.]{1,6}~[0-9]+(?:\.[^.]{0,3})?")


def protected(names: Sequence[str]) -> bool:
    """Whether a path is in git's or rio's own files, which no agent writes under any setting (X01)."""
    return _rules(_PROTECTED).cover(_folded(names))


def unportable(names: Sequence[str]) -> str | None:
    """Why no agent creates such a name, in half a sentence; None when it is a plain name everywhere (C4, P07)."""
    for name in names:
        if any(unicodedata.category(char) == "Cc" for char in name):
            return "it holds a control character"
        if "\\" in name or ":" in name:
            return "it holds a character that separates names on Windows"
        if name.rstrip(" .") != name:
            return "it ends in a dot or a space, which Windows drops"
        plain = _fold(name)
        if _DEVICE.fullmatch(plain.split(".")[0].rstrip()):
            return "it is the name of a device on Windows"
        if _SHORT.fullmatch(plain):
            return "it looks like the short form that Windows gives to another name"
    return None


def runs_later(names: Sequence[str]) -> str | None:
    """Who runs such a file by itself later, in half a sentence for a warning; None for all others (X02)."""
    folded = _folded(names)
    return next((who for who, table in _RUNS_LATER.items() if _rules(table).cover(folded)), None)


def shapes_later(names: Sequence[str]) -> str | None:
    """How such a file changes what agents do later, in half a sentence for a warning; None for all others (I04)."""
    return "agents read it as instructions" if _rules(_SHAPES_LATER).cover(_folded(names)) else None


def looks_secret(names: Sequence[str]) -> bool:
    """Whether a file of that name usually holds passwords or keys, which tools do not read (F6)."""
    return bool(_rules(_HOLDS_SECRETS).decide(_folded(names), is_folder=False))


@cache
def _rules(table: str) -> Rules:
    return Rules(table.split())


def _folded(names: Sequence[str]) -> list[str]:
    return [folded for name in names for part in name.split("\\") if (folded := _fold(part))]


def _fold(name: str) -> str:
    plain = name.lower()
    if not (plain.isascii() and plain.isprintable()):
        plain = unicodedata.normalize("NFKC", _without_hidden(name))
        plain = unicodedata.normalize("NFKC", _without_hidden(plain).casefold())
    return plain.split(":")[0].rstrip(" .")


def _without_hidden(text: str) -> str:
    return "".join(char for char in text if not is_hidden(char))
