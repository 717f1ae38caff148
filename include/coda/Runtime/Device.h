//===- Device.h - memory and time of a device ------------------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What running a program needs of the machine: memory, copies, and how long a
// call took. One implementation for the CPU, one for CUDA.
//
//===----------------------------------------------------------------------===//

#ifndef CODA_RUNTIME_DEVICE_H
#define CODA_RUNTIME_DEVICE_H

#include "coda/Runtime/Result.h"
#include "coda/Runtime/coda_runtime.h"

#include <functional>
#include <memory>

namespace mlir::coda::runtime {

class Device {
public:
  virtual ~Device();
  /// Where tensors of this device are, for DLPack.
  virtual DLDevice location() const = 0;
  /// The stream for coda_ctx; null on the CPU.
  virtual void *stream() const = 0;
  /// `bytes` bytes at a multiple of 256.
  virtual Result<void *> allocate(size_t bytes) = 0;
  virtual void release(void *pointer) = 0;
  virtual Status upload(void *to, const void *from, size_t bytes) = 0;
  virtual Status download(void *to, const void *from, size_t bytes) = 0;
  /// Calls, waits until the device has finished, and gives the seconds that
  /// the device was busy with it. Fails if waiting does (a kernel faulted).
  virtual Result<double> time(const std::function<void()> &call) = 0;
};

std::unique_ptr<Device> createHostDevice();

/// The CUDA device of that ordinal, through its primary context and a stream
/// of its own. Fails, in one line, without driver or GPU.
Result<std::unique_ptr<Device>> createCudaDevice(int32_t ordinal);

} // namespace mlir::coda::runtime

#endif // CODA_RUNTIME_DEVICE_H
