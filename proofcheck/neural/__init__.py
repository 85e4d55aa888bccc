"""The torch part: heads as tensors, and the search for kernels. Nothing here decides anything: the kernel does."""
