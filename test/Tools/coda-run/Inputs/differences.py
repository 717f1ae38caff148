"""Arguments for differences.test: two tensors and a cotangent."""
import sys

import numpy as np

random = np.random.default_rng(7)
x = random.uniform(0.5, 1, (6, 4)).astype(np.float32)
y, cotangent = random.uniform(-1, 1, (2, 6, 4)).astype(np.float32)
zeros = x.copy()
zeros[1, 2] = zeros[4, 0] = 0
np.savez("%s/values16.npz" % sys.argv[1], arg0=x.astype(np.float16), arg1=y.astype(np.float16),
         arg2=cotangent.astype(np.float16))
for name, value in ("values", x), ("zeros", zeros), ("all-zeros", np.zeros_like(x)):
    np.savez("%s/%s.npz" % (sys.argv[1], name), arg0=value, arg1=y, arg2=cotangent)
