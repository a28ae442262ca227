"""Changes of names: what a reference or an import stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst
from libcst.metadata import ImportAssignment

from xla_lint.fixes.calls import translate
from xla_lint.fixes.drafts import Draft, Wanted
from xla_lint.fixes.imports import dotted_of

if TYPE_CHECKING:
    from xla_lint.fixes.changes import ImportInstead, Name, Refer, Takes, Unimport
    from xla_lint.fixes.document import Document
    from xla_lint.fixes.imports import Binding, Imports, Statement


def refer(document: Document, imports: Imports, change: Refer) -> Draft | None:
    """Let a reference name something else."""
    node = document.find(change.at, cst.Attribute) or document.find(change.at, cst.Name)
    draft = Draft()
    if node is None or not _use(document, imports, node, change.to, change.takes, draft):
        return None
    return draft


def import_instead(document: Document, imports: Imports, change: ImportInstead) -> Draft | None:
    """Let an import bring something else, under the name that it has; references that spell the old name follow."""
    statement = document.find(change.at, cst.Import) or document.find(change.at, cst.ImportFrom)
    if statement is None:
        return None
    binding = next((b for b in imports.of(statement) if b.dotted == change.old), None)
    if binding is None or not _needs_only(document, binding, change.members):
        return None
    if isinstance(statement, cst.Import):
        return _module_instead(document, imports, binding, change.to)
    draft = Draft()
    uses = _uses(document, binding.statement, binding.name)
    same_name = change.old.rpartition(".")[2] == change.to.dotted.rpartition(".")[2]
    if uses and binding.alias.asname is None and not same_name:
        done = all(_use(document, imports, use, change.to, change.takes, draft) for use in uses)
        return draft if done else None
    done = all(_called(document, imports, use, change.takes, draft) for use in uses)
    return draft if done and _taken_from_elsewhere(document, imports, binding, change.to, draft) else None


def unimport(document: Document, imports: Imports, change: Unimport) -> Draft | None:
    """Let an import bring nothing of a package any more."""
    statement = document.find(change.at, cst.Import) or document.find(change.at, cst.ImportFrom)
    if statement is None or len(document.block(statement).body) == 1:
        return None
    found = (b for b in imports.of(statement) if b.dotted.partition(".")[0] == change.package)
    unneeded = [binding for binding in found if not imports.is_shared(binding)]
    return Draft(unneeded=unneeded) if unneeded else None


def _use(document: Document, imports: Imports, node: cst.CSTNode, to: Name, takes: Takes | None, draft: Draft) -> bool:
    """Draft that a reference names something else; False where that cannot be."""
    spelled = imports.spell(to, node)
    if spelled is None:
        return False
    draft.write(*document.range_of(node), spelled)
    return _called(document, imports, node, takes, draft)


def _called(document: Document, imports: Imports, node: cst.CSTNode, takes: Takes | None, draft: Draft) -> bool:
    """Draft what becomes of the arguments where a reference is called."""
    call = next(document.around(node))
    if takes is None or not (isinstance(call, cst.Call) and call.func is node):
        return True
    return translate(document, imports, call, takes, draft)


def _module_instead(document: Document, imports: Imports, binding: Binding, to: Name) -> Draft | None:
    """`import old as name` becomes `import new as name`, or `from new import thing as name` for no module."""
    if binding.alias.asname is None:
        return None
    draft = Draft()
    if not to.attribute:
        draft.replace(*document.range_of(binding.alias.name), to.module)
    elif len(imports.of(binding.statement)) == 1:
        kept = "" if to.attribute == binding.name else f" as {binding.name}"
        draft.replace(*document.range_of(binding.statement), f"from {to.module} import {to.attribute}{kept}")
    else:
        return None
    return draft


def _taken_from_elsewhere(document: Document, imports: Imports, binding: Binding, to: Name, draft: Draft) -> bool:
    """`from old import thing as name` becomes `from new import thing as name`: no reference changes."""
    module, _, name = to.dotted.rpartition(".")
    statement = binding.statement
    if not module or not isinstance(statement, cst.ImportFrom) or statement.module is None:
        return False
    kept = "" if name == binding.name else f" as {binding.name}"
    if module == dotted_of(statement.module):
        draft.replace(*document.range_of(binding.alias), name + kept)
    elif len(imports.of(statement)) == 1:
        draft.replace(*document.range_of(statement.module), module)
        draft.replace(*document.range_of(binding.alias), name + kept)
    elif imports.line(statement) is not None:
        draft.wanted.append(Wanted(f"from {module} import {name}{kept}", statement))
        draft.unneeded.append(binding)
    else:
        return False
    return True


def _needs_only(document: Document, binding: Binding, members: frozenset[str] | None) -> bool:
    """Whether all that is used of an imported module is among some members; of anything else, nothing is asked."""
    if members is None:
        return True
    if binding.name != binding.spelled:
        return False
    uses = _uses(document, binding.statement, binding.name)
    owners = [next(document.around(use)) for use in uses]
    return all(isinstance(owner, cst.Attribute) and owner.attr.value in members for owner in owners)


def _uses(document: Document, statement: Statement, name: str) -> list[cst.CSTNode]:
    """Where a name is used that an import binds."""
    scope = document.scope(statement)
    found = (a for a in (scope[name] if scope is not None else ()) if isinstance(a, ImportAssignment))
    return [access.node for a in found if a.node is statement for access in a.references]
