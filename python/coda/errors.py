"""The exceptions of the package; each is a coda.Error."""


class Error(RuntimeError):
    """Base of every exception of this package."""


class ToolNotFoundError(Error):
    """A program of the project, such as coda-compile, could not be found."""


class CompileError(Error):
    """coda-compile refused its input; the text is what it printed.

    `returncode` is its exit code: 1 a check failed, 2 bad input or usage.
    """

    def __init__(self, message: str, returncode: int = 2):
        super().__init__(message)
        self.returncode = returncode


class PerformanceWarning(UserWarning):
    """A part of a compiled program runs on the device, but slowly; the text says
    which and why."""


class ArtifactError(Error):
    """A file is no artifact that this package or this machine can load."""


class ArgumentError(Error, ValueError):
    """Count, rank, shape, dtype, device or stride of an argument is wrong."""


class WorkspaceError(Error):
    """The workspace is missing or too small."""


class DeviceError(Error):
    """No driver, the wrong device, or a launch that failed."""


class AssertionFailed(Error):
    """An assertion of the compiled program does not hold for the arguments."""


# By status code of coda_runtime.h; 0 is success.
BY_STATUS = {
    1: ArgumentError,
    2: WorkspaceError,
    3: DeviceError,
    4: AssertionFailed,
}
