"""Rules on what feeds the device: loaders, samplers and transfers."""
