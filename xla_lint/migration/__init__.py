"""What must change in a torch_xla program that moves to TorchTPU or TorchNeuron: each use, and a plan."""
