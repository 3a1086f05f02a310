"""House rules about modules of the package."""

from __future__ import annotations

import ast

from house import MODULES, Module, report

LINES_MAX = 500
READS_ENVIRONMENT = ("settings.py", "cli/")
PRINTS = ("cli/",)
DOCUMENTED = ("kernel/", "store/ports/", "gateway.py")
SIGNS = ("PrivateKey", "jws.serialize_compact", "generate_key", "pyseto.encode", "lamina_auth")
UNFINISHED = ("TO" + "DO", "FIX" + "ME")


def test_every_module_says_what_it_is_for():
    found = [module.name for module in MODULES if not ast.get_docstring(module.tree)]
    assert not found, report(
        "Begin each module with what it is for, what it promises, what it leaves:", found
    )


def test_modules_stay_readable_in_one_sitting():
    found = [f"{m.name}: {m.lines}" for m in MODULES if m.lines > LINES_MAX]
    assert not found, report(
        f"Past {LINES_MAX} lines, find the second idea and give it its own module:", found
    )


def test_only_settings_and_the_command_line_read_the_environment():
    found = [m.name for m in MODULES if not m.name.startswith(READS_ENVIRONMENT) and _reads_environment(m)]
    assert not found, report("Take the value from Settings, passed down, instead of the environment:", found)


def test_only_the_command_line_prints():
    found = [m.name for m in MODULES if not m.name.startswith(PRINTS) and "print" in _called_names(m)]
    assert not found, report("Log, or return the value; only the command line prints:", found)


def test_nothing_in_the_server_can_sign_a_token():
    # A receipt of an erasure is signed with a key of the operator's that verifies no token.
    modules = [module for module in MODULES if module.name != "forget/receipt_keys.py"]
    found = [f"{m.name}: {word}" for m in modules for word in SIGNS if word in m.text]
    assert not found, report("The server verifies tokens only; signing is for lamina_auth:", found)


def test_nothing_is_left_for_later():
    found = [m.name for m in MODULES if any(word in m.text for word in UNFINISHED)]
    assert not found, report("Do it now, or open an issue and delete the note:", found)


def test_exports_are_real_and_sorted():
    found = []
    for module in MODULES:
        names = _exports(module)
        if names != sorted(names, key=_export_order) or set(names) - _top_level_names(module):
            found.append(module.name)
    assert not found, report(
        "__all__ lists what is there: constants, classes, functions, each in order:", found
    )


def test_package_roots_that_export_say_so():
    roots = [m for m in MODULES if m.name.endswith("__init__.py")]
    found = [m.name for m in roots if _imports_something(m) and not _exports(m)]
    assert not found, report("A package root that imports names them in __all__:", found)


def test_what_others_build_on_is_documented():
    found = []
    for module in MODULES:
        if module.name.startswith(DOCUMENTED):
            found += [f"{module.name}: {name}" for name in _undocumented(module.tree, "")]
    assert not found, report("Say in one line what the caller gets:", found)


def _reads_environment(module: Module) -> bool:
    for node in module.nodes:
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "environb", "getenv"):
            return True
        if isinstance(node, ast.ImportFrom) and node.module == "os":
            return any(name.name in ("environ", "environb", "getenv") for name in node.names)
    return False


def _called_names(module: Module) -> set[str]:
    calls = (node.func for node in module.nodes if isinstance(node, ast.Call))
    return {function.id for function in calls if isinstance(function, ast.Name)}


def _exports(module: Module) -> list[str]:
    for node in module.tree.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets
        ):
            return [str(name) for name in ast.literal_eval(node.value)]
    return []


def _export_order(name: str) -> tuple[int, str]:
    """The linter's order: CONSTANTS, then Classes, then functions."""
    kind = 0 if name.isupper() else 1 if name[:1].isupper() else 2
    return kind, name


def _top_level_names(module: Module) -> set[str]:
    names: set[str] = set()
    for node in module.tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {item.asname or item.name for item in node.names}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        else:
            names |= {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
            names |= {item.asname or item.name for item in ast.walk(node) if isinstance(item, ast.alias)}
    return names


def _imports_something(module: Module) -> bool:
    return any(isinstance(node, ast.ImportFrom) and node.module != "__future__" for node in module.tree.body)


def _undocumented(node: ast.Module | ast.ClassDef, inside: str) -> list[str]:
    found = []
    for item in node.body:
        if not isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if item.name.startswith("_"):
            continue
        if not ast.get_docstring(item):
            found.append(inside + item.name)
        if isinstance(item, ast.ClassDef):
            found += _undocumented(item, f"{inside}{item.name}.")
    return found
