"""Writes the .npz files of this folder, with what NumPy computes for toy.c.

  python3 make.py    (needs numpy; run in this folder)
"""
import json

import numpy as np


def splitmix64(x):
    with np.errstate(over="ignore"):
        x = x + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))


def argument(spec, seed, index):
    n = int(np.prod(spec["shape"]))
    base = np.uint64((seed << 48) + (index << 40))
    h = splitmix64(base + np.arange(n, dtype=np.uint64))
    u = (h >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-23)
    u = u - np.float32(1)
    v = u * np.float32(spec["scale"]) + np.float32(spec["offset"])
    return v.reshape(spec["shape"])


def to_bf16(x):
    b = x.view(np.uint32).astype(np.uint64)
    return ((b + 0x7FFF + ((b >> 16) & 1)) >> 16).astype(np.uint16)


recipe = json.load(open("toy.json"))
x, w = (argument(a, recipe["seed"], i) for i, a in enumerate(recipe["args"]))
y = x * w
s = y.sum(axis=1)
save = np.savez_compressed
save("inputs.npz", arg0=x, w=w)
np.savez("inputs_stored.npz", x=np.asfortranarray(x), arg1=w)
save("golden.npz", out0_f32=y, out1_f32=s)
save("golden_bf16.npz", out0_f32=y, out0_eager_bf16=to_bf16(y), out1_f32=s)
save("golden_every.npz", out0_f32_every5=y.reshape(-1)[::5].copy())
save("golden_every1.npz", out0_f32_every1=y.reshape(-1))

# Everything that is refused.
save("missing.npz", arg0=x)
save("extra.npz", arg0=x, arg1=w, arg2=w)
save("twice.npz", arg0=x, x=x, arg1=w)
save("shape.npz", arg0=x.T, arg1=w)
save("dtype.npz", arg0=x.astype(np.float64), arg1=w)
save("complex.npz", arg0=x.astype(np.complex64), arg1=w)
save("golden_name.npz", out0_f32=y, loss=s)
save("golden_index.npz", out0_f32=y, out2_f32=s)
save("golden_shape.npz", out0_f32=y[:, :3])
save("golden_every_shape.npz", out0_f32_every7=y.reshape(-1)[::5].copy())
save("golden_eager_only.npz", out0_eager_bf16=to_bf16(y))
save("golden_type.npz", out1_f32=s.astype(np.int64))
save("golden_empty.npz")
open("cut.npz", "wb").write(open("inputs.npz", "rb").read()[:300])
