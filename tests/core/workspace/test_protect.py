import pytest

from rio_core._engine.workspace.protect import looks_secret, protected, runs_later, shapes_later, unportable


def names(path: str) -> tuple[str, ...]:
    return tuple(path.split("/"))


@pytest.mark.parametrize(
    "path",
    [
        ".git", ".git/config", ".git/hooks/pre-commit", "sub/.git", "a/b/.git/x", ".GIT/config", ".Git/config", ".git ",
        ".git.", ".git. .", ".git::$INDEX_ALLOCATION/config", ".git:x", "git~1/config", "GIT~2", ".g\u200cit/config",
        ".\ufeffgit", ".gi\u00adt", ".git\u2060", ".ｇｉｔ/config", "a\\.git\\config", ".git\\config", ".\u202egit",
        ".rio/settings.toml", ".Rio/Settings.toml", ".RIO", "RIO~1/x", ".rio./x", "sub/.rio",
    ],
)  # fmt: skip
def test_X01_P06_P07_git_and_rio_are_protected_in_every_spelling(path: str) -> None:
    assert protected(names(path))


@pytest.mark.parametrize(
    "path", ["git/x", "a.git", ".gitignore", ".github/x", "rio", ".riot", "src/rio/a.py", "digit~1", ""]
)
def test_what_is_not_protected(path: str) -> None:
    assert not protected(names(path))


@pytest.mark.parametrize(
    "path",
    [
        "nul", "NUL", "CON.txt", "a/aux.py", "aux/x", "com1", "COM9.log", "lpt1.x", "com¹", "LPT³.txt", "conin$",
        "CONOUT$", "prn .txt", "con.", "nul:", "a.txt::$DATA", "a.toml::$DATA", "RIO~1/x", "AGENTS~1.MD", "a.txt.",
        "a.txt ", "a\\b", "C:x", "a\nb", "a\x7f", "\x1b[2J", "sub /x", "ｃｏｎ.txt", "c\u200bon",
    ],
)  # fmt: skip
def test_C4_P07_names_that_other_systems_read_otherwise(path: str) -> None:
    reason = unportable(names(path))
    assert reason is not None
    assert reason.isprintable()


@pytest.mark.parametrize(
    "path", ["null.py", "console.txt", "a/auxiliary.py", "com10", "é.txt", ".env", "a b", "x~", "..a"]
)
def test_plain_names(path: str) -> None:
    assert unportable(names(path)) is None


@pytest.mark.parametrize(
    "path",
    [
        ".vscode/tasks.json", ".VSCode/Tasks.json", ".envrc", "conftest.py", "tests/deep/conftest.py", "Conftest.py",
        "pyproject.toml", "setup.py", "setup.cfg", "sitecustomize.py", "usercustomize.py", "lib/x.pth", "Makefile",
        "GNUmakefile", "rules.mk", "package.json", ".github/workflows/ci.yml", "repo/.github/workflows/ci.yml",
        ".gitlab-ci.yml", ".circleci/config.yml", "azure-pipelines.yml", "Jenkinsfile", ".pre-commit-config.yaml",
        ".husky/pre-commit", "tox.ini", "noxfile.py", "justfile", "Dockerfile", "Dockerfile.dev", "docker-compose.yml",
        "compose.override.yaml", ".bashrc", ".idea/workspace.xml", ".gitattributes", ".gitmodules", ".gitignore",
        "build.rs", "CMakeLists.txt", "app/build.gradle", "build.gradle.kts", "vite.config.ts", ".mcp.json",
        "make\u200bfile", "MAKEFILE ", "pyproject.toml.", "Ｍakefile",
    ],
)  # fmt: skip
def test_X02_files_that_something_runs_later(path: str) -> None:
    reason = runs_later(names(path))
    assert reason is not None
    assert reason.endswith("it")


@pytest.mark.parametrize(
    "path", ["src/main.py", "README.md", "a/b.txt", ".github/ISSUE_TEMPLATE.md", "package.py", ".gitkeep"]
)
def test_files_that_nothing_runs_by_itself(path: str) -> None:
    assert runs_later(names(path)) is None


@pytest.mark.parametrize(
    "path", ["AGENTS.md", "agents.MD", "sub/AGENTS.md", "CLAUDE.md", ".cursorrules", ".cursor/rules/x.mdc",
             ".github/copilot-instructions.md", ".github/prompts/x.md", "x.prompt.md", "AGENTS.md ", "A\u200dGENTS.md"]
)  # fmt: skip
def test_I04_files_that_shape_agents_later(path: str) -> None:
    assert shapes_later(names(path))


@pytest.mark.parametrize("path", ["README.md", "docs/agents.rst", "prompt.md"])
def test_files_that_shape_nothing(path: str) -> None:
    assert shapes_later(names(path)) is None


@pytest.mark.parametrize(
    "path",
    [
        ".env", ".ENV", "a/.env", ".env.local", ".env.production", "prod.env", ".envrc", "server.pem", "tls.KEY",
        "id_rsa", "id_ed25519", ".ssh/config", ".netrc", ".npmrc", ".pypirc", "credentials", ".aws/credentials",
        "x.p12", "vault.kdbx", ".git-credentials", "terraform.tfvars", "secrets.yaml", ".env ", ".en\u200bv",
    ],
)  # fmt: skip
def test_F6_files_that_hold_secrets(path: str) -> None:
    assert looks_secret(names(path))


@pytest.mark.parametrize(
    "path",
    [".env.example", ".env.local.example", ".env.sample", ".env.template", "id_rsa.pub", "environment.py", "keys.py",
     "src/credentials/model.py", ".env/lib/python3/site.py", "secrets.py", "monkey.txt"],
)  # fmt: skip
def test_files_that_hold_none(path: str) -> None:
    assert not looks_secret(names(path))


@pytest.mark.parametrize("path", ["...", "\u200b", "a/\u200b", "\\", ":x"])
def test_names_of_which_nothing_is_left_are_judged_too(path: str) -> None:
    assert not protected(names(path))
    assert not looks_secret(names(path))
    assert runs_later(names(path)) is None
