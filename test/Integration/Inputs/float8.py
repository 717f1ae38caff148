"""8-bit floats in numpy: their values, and rounding to them."""
import numpy as np

# Exponent bias, bits of mantissa, finite positive codes, whether there is an
# infinity.
FORMATS = {"f8E4M3FN": (7, 3, 0x7F, False), "f8E5M2": (15, 2, 0x7C, True)}


def decode(name):
    """The 256 values, f64."""
    bias, mantissa, finite, infinity = FORMATS[name]
    values = []
    for code in range(128):
        exponent, fraction = code >> mantissa, code & ((1 << mantissa) - 1)
        if code >= finite:
            values.append(np.inf if infinity and code == finite else np.nan)
        elif exponent == 0:
            values.append(fraction * 2.0 ** (1 - bias - mantissa))
        else:
            values.append((1 + fraction / (1 << mantissa)) * 2.0 ** (exponent - bias))
    return np.array(values + [-v for v in values])


def encode(values, name):
    """Codes of f64 `values`, to nearest even; a NaN is 0x7F."""
    bias, mantissa, finite, infinity = FORMATS[name]
    table = decode(name)[:finite]
    # What would be the next number rounds like one.
    ends = np.append(table, 2 * table[-1] - table[-2])
    magnitude = np.abs(values)
    above = np.clip(np.searchsorted(ends, magnitude), 1, finite)
    low, high = magnitude - ends[above - 1], ends[above] - magnitude
    code = np.where((low < high) | ((low == high) & (above % 2 == 1)), above - 1, above)
    code = np.where(magnitude > ends[-1], finite, code)
    beyond = code >= finite
    code = code | np.where(np.signbit(values), 0x80, 0)
    if not infinity:
        code = np.where(beyond, 0x7F, code)
    return np.where(np.isnan(values), 0x7F, code).astype(np.uint8)
