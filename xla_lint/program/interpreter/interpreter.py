"""The machine with all that it needs: each operation of the contract is told in a module of its own."""

from __future__ import annotations

from xla_lint.program.interpreter import (
    assignment,
    attributes,
    branches,
    callbacks,
    calls,
    comprehensions,
    conditions,
    contexts,
    definitions,
    displays,
    expressions,
    functions,
    generators,
    imports,
    instances,
    iteration,
    matching,
    names,
    operators,
    reads,
    statements,
    subscripts,
    tries,
    turns,
)
from xla_lint.program.machine.machine import Machine

HANDLERS = (branches, comprehensions, conditions, definitions, displays, expressions, generators, iteration,
            matching, statements, subscripts, tries, turns)  # fmt: skip
"""The modules that only register what nodes and values mean."""


class Interpreter(Machine):
    """A machine that runs programs of Python."""

    binary = operators.binary
    method = calls.method
    set_attribute = attributes.set_attribute
    rebind = names.rebind
    extend = assignment.extend
    call_function = functions.call_function
    run_function = functions.run_function
    activate = functions.activate
    call_instance = instances.call_instance
    hand_over = callbacks.hand_over
    run_hook = callbacks.run_hook
    find_imported = imports.find_imported
    enter = contexts.enter
    read = reads.read
    read_each = reads.read_each
