//===- Execution.cpp - one program with its memory ------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Runtime/Execution.h"

#include <algorithm>
#include <cstring>

namespace mlir::coda::runtime {

namespace {

constexpr size_t kGuardBytes = 256;
constexpr unsigned char kGuardByte = 0xC5;

/// The marked NaN of a float type, as bits.
uint64_t poisonBits(DType type) {
  switch (type) {
  case DType::F64:
    return 0x7FF8DEADBEEFDEADu;
  case DType::F32:
    return 0x7FC0DEADu;
  case DType::BF16:
    return 0x7FDEu;
  case DType::F16:
    return 0x7EDEu;
  case DType::F8E4M3FN:
    return 0xFFu; // programs write 0x7F
  case DType::F8E5M2:
    return 0xFDu;
  default:
    return 0xA5A5A5A5A5A5A5A5u;
  }
}

std::string nameOutput(const EntryInfo &entry, size_t index) {
  return "output " + std::to_string(index) + " ('" + entry.outputs[index].name +
         "')";
}

std::string nameInput(const EntryInfo &entry, size_t index) {
  return "input " + std::to_string(index) + " ('" + entry.inputs[index].name +
         "')";
}

} // namespace

void poison(Tensor &tensor) {
  // Little-endian: the low bytes of the pattern are those of the element.
  uint64_t bits = poisonBits(tensor.type);
  size_t element = sizeOf(tensor.type);
  for (size_t at = 0; at < tensor.bytes.size(); at += element)
    std::memcpy(tensor.bytes.data() + at, &bits, element);
}

size_t countPoisoned(const Tensor &tensor) {
  if (!isFloat(tensor.type))
    return 0;
  uint64_t bits = poisonBits(tensor.type);
  size_t element = sizeOf(tensor.type), count = 0;
  for (size_t at = 0; at < tensor.bytes.size(); at += element)
    count += std::memcmp(tensor.bytes.data() + at, &bits, element) == 0;
  return count;
}

Status checkInput(const EntryInfo &entry, size_t index, const Tensor &tensor) {
  const ArgumentInfo &info = entry.inputs[index];
  bool good =
      info.type == tensor.type && info.shape.size() == tensor.shape.size();
  for (size_t d = 0; good && d < info.shape.size(); ++d)
    good = info.shape[d] < 0 || info.shape[d] == tensor.shape[d];
  if (good)
    return {};
  return Failure{nameInput(entry, index) + " of '" + entry.name + "' is " +
                 describe(info.shape, info.type) + ", given " +
                 describe(tensor.shape, tensor.type)};
}

Execution::~Execution() {
  for (Buffer &buffer : buffers)
    if (buffer.allocation)
      device.release(buffer.allocation);
  if (workspace.allocation)
    device.release(workspace.allocation);
}

Result<std::unique_ptr<Execution>>
Execution::create(const Artifact &artifact, const EntryInfo &entry,
                  Device &device, const std::vector<Tensor> &inputs) {
  std::unique_ptr<Execution> execution(new Execution(artifact, entry, device));
  if (Status status = execution->prepare(inputs); !status.ok())
    return status.error();
  return Result<std::unique_ptr<Execution>>(std::move(execution));
}

Failure Execution::refused(const std::string &function) const {
  return Failure{"'" + artifact.path() + "', " + function + " of '" +
                 entry.name + "': " + artifact.lastError()};
}

Status Execution::allocate(Buffer &buffer, size_t size, std::string what) {
  Result<void *> allocation = device.allocate(size + 2 * kGuardBytes);
  if (!allocation.ok())
    return Failure{what + ": " + allocation.error().message};
  buffer.allocation = *allocation;
  buffer.payload = static_cast<char *>(*allocation) + kGuardBytes;
  buffer.size = size;
  buffer.what = std::move(what);
  std::vector<unsigned char> guard(kGuardBytes, kGuardByte);
  Status status = device.upload(buffer.allocation, guard.data(), guard.size());
  if (status.ok())
    status = device.upload(static_cast<char *>(buffer.payload) + size,
                           guard.data(), guard.size());
  return status;
}

Status Execution::prepare(const std::vector<Tensor> &inputs) {
  given = &inputs;
  if (inputs.size() != entry.inputs.size())
    return Failure{"'" + entry.name + "' takes " +
                   std::to_string(entry.inputs.size()) + " inputs, given " +
                   std::to_string(inputs.size())};
  size_t numOutputs = entry.outputs.size();
  size_t total = inputs.size() + numOutputs;
  buffers.resize(total);
  shapes.resize(total);
  tensors.resize(total);
  for (size_t i = 0; i < total; ++i) {
    bool isInput = i < inputs.size();
    const ArgumentInfo &info =
        isInput ? entry.inputs[i] : entry.outputs[i - inputs.size()];
    shapes[i] = isInput ? inputs[i].shape : info.shape;
    DLTensor &tensor = tensors[i];
    tensor = {};
    tensor.device = device.location();
    tensor.ndim = static_cast<int32_t>(shapes[i].size());
    tensor.dtype = toDLPack(info.type);
    tensor.shape = shapes[i].data();
    arguments.push_back(&tensor);
    if (!isInput)
      continue;
    if (Status status = checkInput(entry, i, inputs[i]); !status.ok())
      return status;
    const AlignedBytes &bytes = inputs[i].bytes;
    Status status = allocate(buffers[i], bytes.size(), nameInput(entry, i));
    if (status.ok())
      status = device.upload(buffers[i].payload, bytes.data(), bytes.size());
    if (!status.ok())
      return status;
    tensor.data = buffers[i].payload;
  }

  // The program computes the extents that its table leaves open, and checks
  // the others.
  int32_t count = static_cast<int32_t>(total);
  if (entry.table->infer &&
      entry.table->infer(arguments.data(), count) != CODA_OK)
    return refused("shape inference");
  for (size_t i = 0; i < numOutputs; ++i) {
    size_t at = inputs.size() + i;
    DType type = entry.outputs[i].type;
    Result<size_t> elements = countElements(shapes[at], type);
    if (!elements.ok())
      return Failure{nameOutput(entry, i) + " of '" + entry.name +
                     "': " + elements.error().message};
    results.emplace_back(type, shapes[at]);
    Status status = allocate(buffers[at], results.back().bytes.size(),
                             nameOutput(entry, i));
    if (!status.ok())
      return status;
    tensors[at].data = buffers[at].payload;
  }

  size_t bytes = 0;
  if (entry.table->workspace(arguments.data(), count, &bytes) != CODA_OK)
    return refused("the workspace query");
  if (bytes > memoryLimit())
    return Failure{"'" + entry.name + "' asks for a workspace of " +
                   std::to_string(bytes) +
                   " bytes, more than this machine has"};
  Status status = allocate(workspace, bytes, "the workspace");
  if (!status.ok())
    return status;
  // All ones is a NaN in each float type: nothing may rely on zeros.
  std::vector<unsigned char> ones(std::min<size_t>(bytes, 1 << 20), 0xFF);
  for (size_t at = 0; at < bytes && status.ok(); at += ones.size())
    status = device.upload(static_cast<char *>(workspace.payload) + at,
                           ones.data(), std::min(ones.size(), bytes - at));
  return status;
}

Result<double> Execution::call() {
  coda_ctx context = {};
  context.size = sizeof(context);
  context.device = device.location().device_id;
  context.stream = device.stream();
  context.workspace = workspace.payload;
  context.workspace_bytes = workspace.size;
  int32_t code = CODA_OK;
  Result<double> seconds = device.time([&] {
    code = entry.table->call(&context, arguments.data(),
                             static_cast<int32_t>(arguments.size()));
  });
  if (code != CODA_OK)
    return refused("the call");
  return seconds;
}

Status Execution::checkGuards() {
  std::vector<unsigned char> guard(kGuardBytes);
  auto check = [&](const Buffer &buffer) -> Status {
    char *after = static_cast<char *>(buffer.payload) + buffer.size;
    for (bool isAfter : {false, true}) {
      Status status = device.download(
          guard.data(), isAfter ? after : buffer.allocation, kGuardBytes);
      if (!status.ok())
        return status;
      for (size_t i = 0; i < kGuardBytes; ++i)
        if (guard[i] != kGuardByte)
          return Failure{"'" + artifact.path() + "', '" + entry.name +
                             "' writes out of bounds, " +
                             std::to_string(isAfter ? i : kGuardBytes - i) +
                             (isAfter ? " bytes past the end of "
                                      : " bytes before the start of ") +
                             buffer.what + "; this is a bug of the compiler",
                         ExitCheckFailed};
    }
    return {};
  };
  for (const Buffer &buffer : buffers)
    if (Status status = check(buffer); !status.ok())
      return status;
  return check(workspace);
}

Status Execution::runFirst() {
  size_t numInputs = entry.inputs.size();
  for (size_t i = 0; i < results.size(); ++i) {
    poison(results[i]);
    Status status =
        device.upload(buffers[numInputs + i].payload, results[i].bytes.data(),
                      results[i].bytes.size());
    if (!status.ok())
      return status;
  }
  Result<double> seconds = call();
  if (!seconds.ok())
    return seconds.error();
  first = *seconds;
  if (Status status = checkGuards(); !status.ok())
    return status;

  Status status;
  for (size_t i = 0; i < numInputs; ++i) {
    const AlignedBytes &before = (*given)[i].bytes;
    AlignedBytes after(before.size());
    status = device.download(after.data(), buffers[i].payload, after.size());
    if (!status.ok())
      return status;
    if (std::memcmp(before.data(), after.data(), after.size()) != 0)
      return Failure{"'" + artifact.path() + "', '" + entry.name +
                         "' changes " + nameInput(entry, i) +
                         "; this is a bug of the compiler",
                     ExitCheckFailed};
  }
  for (size_t i = 0; i < results.size(); ++i) {
    AlignedBytes &bytes = results[i].bytes;
    status = device.download(bytes.data(), buffers[numInputs + i].payload,
                             bytes.size());
    if (!status.ok())
      return status;
    if (size_t unwritten = countPoisoned(results[i]))
      return Failure{"'" + artifact.path() + "', '" + entry.name + "' leaves " +
                         std::to_string(unwritten) + " of the " +
                         std::to_string(results[i].size()) + " elements of " +
                         nameOutput(entry, i) +
                         " unwritten; this is a bug of the compiler",
                     ExitCheckFailed};
  }
  return {};
}

Result<double> Execution::runTimed() {
  Result<double> seconds = call();
  if (!seconds.ok())
    return seconds;
  if (Status status = checkGuards(); !status.ok())
    return status.error();
  return seconds;
}

Status Execution::checkRepeatable() {
  for (size_t i = 0; i < results.size(); ++i) {
    const AlignedBytes &before = results[i].bytes;
    AlignedBytes after(before.size());
    Status status = device.download(
        after.data(), buffers[entry.inputs.size() + i].payload, after.size());
    if (!status.ok())
      return status;
    if (std::memcmp(before.data(), after.data(), after.size()) != 0)
      return Failure{"'" + artifact.path() + "', '" + entry.name +
                         "' gives other bits in " + nameOutput(entry, i) +
                         " when it runs again; this is a bug of the compiler",
                     ExitCheckFailed};
  }
  return {};
}

} // namespace mlir::coda::runtime
