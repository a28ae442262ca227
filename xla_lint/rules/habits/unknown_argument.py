"""`xla-unknown-argument`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.knowledge.arguments import signatures
from xla_lint.program.domain.events import LibraryCall
from xla_lint.rules.base import EVERYWHERE, Confidence, Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.knowledge.arguments import Signature
    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding

PACKAGES = ("transformers", "accelerate")


class UnknownArgument(Rule):
    """A class is given an argument that it does not take.

    ## What it does
    Finds calls of `TrainingArguments`, `Trainer` and the data collators of Transformers, and of `Accelerator`, with an
    argument that no release took since Transformers 4.6 and Accelerate 0.12, or that the release in use has lost. That
    release is what the project's dependency declarations pin, else the newest one; of older ones nothing is said. The
    finding stands at the call.

    ## Why it matters
    The call raises a TypeError, often on a machine that was just started for the job. Guides show arguments of
    example scripts as if they were the library's (`preprocessing_num_workers`, `pad_to_max_length`), and arguments
    go from release to release: `tpu_num_cores`, `no_cuda` and `evaluation_strategy` are gone in Transformers 5.

    ## What to write instead
    Look the argument up in the release in use. `preprocessing_num_workers` is `datasets.map(num_proc=...)`, and
    `tpu_num_cores` is left to the launcher. Or pin the release that the script was written for.

    ## When it is fine
    Arguments that come through `**kwargs` are not looked at.
    """

    symbol = "xla-unknown-argument"
    number = "9786"
    severity = Severity.ERROR
    message = "%(cls)s %(problem)s '%(argument)s': the call raises a TypeError; %(advice)s"
    subscribes = (LibraryCall,)
    modes = EVERYWHERE

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Classes whose arguments are known."""
        return signature_of(call) is not None

    def check(self, event: Event) -> Iterator[Finding]:
        """Report arguments that the class does not take."""
        if not isinstance(event, LibraryCall):
            return
        signature = signature_of(event.name)
        if signature is None:
            return
        package, _, name = event.name.partition(".")
        pinned = self.program.pinned(package)
        for argument in stated(event):
            if not signature.takes(argument, pinned):
                known = signature.knows(argument)
                yield self.finding(
                    event.node,
                    Confidence.HIGH if pinned is not None or not known else Confidence.INFERENCE,
                    cls=name,
                    argument=argument,
                    problem=lacks(signature, argument, package, None if pinned is None else str(pinned)),
                    advice="pin the release that has it, or leave it out" if known else "leave it out",
                )
                return


def signature_of(call: str) -> Signature | None:
    """What a class takes, None where it is not known."""
    package, _, name = call.partition(".")
    return signatures(package).get(name) if package in PACKAGES else None


def stated(call: LibraryCall) -> list[str]:
    """The keywords that the call itself spells out."""
    keywords = getattr(call.node, "keywords", [])
    return [keyword.arg for keyword in keywords if keyword.arg is not None]


def lacks(signature: Signature, argument: str, package: str, pinned: str | None) -> str:
    """How a class does not take an argument: in no release that is known, or not in this one."""
    first, newest = (".".join(map(str, signature.releases[position])) for position in (0, -1))
    if not signature.knows(argument):
        return f"of {package} {first} and later does not take"
    return f"of {package} {pinned or newest} does not take"
