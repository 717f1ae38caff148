"""What stops coda-bench."""


class UsageError(Exception):
    """Bad input or usage: one `error:` line and exit code 2."""


class NotSupported(Exception):
    """A provider has no such op, or no such variant of it."""


class DeviceLost(Exception):
    """A kernel broke the process's CUDA context: only a new process can go on."""
