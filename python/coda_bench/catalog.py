"""What is in the source of the providers, read without importing them: they need
torch, and so that `list` does not."""
import ast
import os
from typing import List, Tuple

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "providers")


def _is_registered(node) -> bool:
    return isinstance(node, ast.ClassDef) and any(
        isinstance(d, ast.Name) and d.id == "register" for d in node.decorator_list)


def _name(node: ast.ClassDef) -> str:
    """The value of `name` in the body of a provider's class."""
    for statement in node.body:
        if not isinstance(statement, ast.Assign):
            continue
        for target in statement.targets:
            if isinstance(target, ast.Name) and target.id == "name":
                return ast.literal_eval(statement.value)
            if isinstance(target, ast.Tuple):
                names = [part.id for part in target.elts]
                if "name" in names:
                    return ast.literal_eval(statement.value.elts[names.index("name")])
    return node.name


def providers() -> List[Tuple[str, str]]:
    """(name, first line of what it is) of each provider in `providers/`, in the
    order of the files."""
    found = []
    for file in sorted(os.listdir(FOLDER)):
        if not file.endswith(".py"):
            continue
        with open(os.path.join(FOLDER, file), encoding="utf-8") as f:
            tree = ast.parse(f.read())
        found += [
            (_name(node), (ast.get_docstring(node) or "").split("\n")[0])
            for node in tree.body if _is_registered(node)]
    return found
