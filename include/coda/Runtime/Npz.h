//===- Npz.h - NumPy's .npz archives ---------------------------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes the arrays of an .npz: a zip of .npy files, stored or
// deflated. bf16 has no NumPy type: it travels as its bits in uint16, and 8-bit
// floats as theirs in uint8, which reads as Bool until asBits() says of what.
//
//===----------------------------------------------------------------------===//

#ifndef CODA_RUNTIME_NPZ_H
#define CODA_RUNTIME_NPZ_H

#include "coda/Runtime/Tensor.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mlir::coda::runtime {

/// Arrays by name (without ".npy"). A uint16 array has type BF16, a uint8 one
/// type Bool; Fortran order is turned into row-major order.
using NamedTensors = std::map<std::string, Tensor>;

/// Reads every array of the archive. Fails on a file that cannot be read, is
/// no zip or is cut off, on a wrong checksum, and on an element type or byte
/// order that is not supported; the text names the file and the array.
Result<NamedTensors> readNpz(const std::string &path);

/// Parses one .npy file in memory; `what` names it in messages.
Result<Tensor> parseNpy(const unsigned char *data, size_t size,
                        const std::string &what);

/// Writes the arrays, uncompressed, in the order given. The file appears under
/// its name only when it is complete: it is written beside it and renamed.
Status
writeNpz(const std::string &path,
         const std::vector<std::pair<std::string, const Tensor *>> &arrays);

} // namespace mlir::coda::runtime

#endif // CODA_RUNTIME_NPZ_H
