"""What the rules about SageMaker share: they judge the estimators of launch scripts."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from xla_lint.program.domain.events import LibraryCall
from xla_lint.program.queries import Domain
from xla_lint.rules.base import Rule
from xla_lint.rules.sagemaker.estimator import ESTIMATORS, estimator_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding
    from xla_lint.rules.sagemaker.estimator import Estimator


class EstimatorRule(Rule):
    """A rule about estimators."""

    subscribes = (LibraryCall,)
    domain = Domain.SAGEMAKER

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Estimators alone."""
        return call in ESTIMATORS

    def check(self, event: Event) -> Iterator[Finding]:
        """Report what is wrong with an estimator."""
        estimator = estimator_of(event, self.program)
        if estimator is not None:
            yield from self.check_estimator(estimator)

    @abstractmethod
    def check_estimator(self, estimator: Estimator) -> Iterator[Finding]:
        """Yield the findings at the call that builds an estimator."""
