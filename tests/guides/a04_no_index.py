import torch_xla.distributed.xla_multiprocessing as xmp


def _mp_fn():
    print("one process")


if __name__ == "__main__":
    xmp.spawn(_mp_fn)  # expect: xla-launch-arguments
