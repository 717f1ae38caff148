//===- Execution.h - one program with its memory ---------------*- C++ -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An entry of an artifact together with its inputs, outputs and workspace on a
// device. Distrusts the program: every buffer lies between guard bytes that
// are checked after each run, outputs hold a marked NaN before the first run,
// inputs are compared with what they were, and all runs must give the same
// bits.
//
//===----------------------------------------------------------------------===//

#ifndef CODA_RUNTIME_EXECUTION_H
#define CODA_RUNTIME_EXECUTION_H

#include "coda/Runtime/Artifact.h"
#include "coda/Runtime/Device.h"

#include <memory>
#include <vector>

namespace mlir::coda::runtime {

class Execution {
public:
  /// Copies the inputs to the device, asks the program for the shapes of its
  /// outputs and for its workspace, and allocates both. The inputs have the
  /// types and shapes of the entry's table (see checkInput). `artifact`,
  /// `entry` and `device` must outlive the result.
  static Result<std::unique_ptr<Execution>>
  create(const Artifact &artifact, const EntryInfo &entry, Device &device,
         const std::vector<Tensor> &inputs);
  ~Execution();

  /// Runs once on poisoned outputs, fetches them and makes every check. A
  /// failure with ExitCheckFailed is a fault of the program; one with
  /// ExitBadInput says that the program refused its arguments.
  Status runFirst();
  /// Runs again; the seconds that it took. Checks the guard bytes.
  Result<double> runTimed();
  /// Fetches the outputs once more and compares them with those of runFirst.
  Status checkRepeatable();

  /// What runFirst fetched, in the order of the table.
  const std::vector<Tensor> &outputs() const { return results; }
  /// Seconds of runFirst.
  double firstSeconds() const { return first; }
  size_t workspaceBytes() const { return workspace.size; }

private:
  /// A payload between two guards in one allocation.
  struct Buffer {
    void *allocation = nullptr;
    void *payload = nullptr;
    size_t size = 0;
    std::string what; ///< "output 0 ('q')", for messages
  };

  Execution(const Artifact &artifact, const EntryInfo &entry, Device &device)
      : artifact(artifact), entry(entry), device(device) {}
  Status prepare(const std::vector<Tensor> &inputs);
  Status allocate(Buffer &buffer, size_t size, std::string what);
  Status checkGuards();
  Result<double> call();
  Failure refused(const std::string &function) const;

  const Artifact &artifact;
  const EntryInfo &entry;
  Device &device;
  const std::vector<Tensor> *given = nullptr;
  std::vector<Buffer> buffers; ///< inputs, then outputs
  Buffer workspace;
  std::vector<std::vector<int64_t>> shapes;
  std::vector<DLTensor> tensors;
  std::vector<DLTensor *> arguments;
  std::vector<Tensor> results;
  double first = 0;
};

/// Whether `tensor` can be input `index` of the entry: same element type, same
/// rank, same static extents.
Status checkInput(const EntryInfo &entry, size_t index, const Tensor &tensor);

/// Overwrites a tensor with what no program writes by chance: NaNs with a
/// marked payload, or bytes 0xA5.
void poison(Tensor &tensor);
/// Elements of a float tensor that still hold the marked NaN; 0 for others.
size_t countPoisoned(const Tensor &tensor);

} // namespace mlir::coda::runtime

#endif // CODA_RUNTIME_EXECUTION_H
