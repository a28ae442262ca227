"""What the rules about SageMaker share: they judge the estimators of launch scripts."""

from __future__ import annotations

from xla_lint.program.domain.events import LibraryCall
from xla_lint.program.queries import Domain
from xla_lint.rules.base import Rule
from xla_lint.rules.sagemaker.estimator import ESTIMATORS


class EstimatorRule(Rule):
    """A rule about estimators."""

    subscribes = (LibraryCall,)
    domain = Domain.SAGEMAKER

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Estimators alone."""
        return call in ESTIMATORS
