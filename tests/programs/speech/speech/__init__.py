from .data import batches
from .loop import train
from .meters import Meter
from .model import Recogniser

__all__ = ["Meter", "Recogniser", "batches", "train"]
