//===- Artifact.cpp - a compiled program, loaded --------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Runtime/Artifact.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fstream>

namespace mlir::coda::runtime {

namespace {

/// Whether all that the loader will map is in the file: dlopen maps first, and
/// a file that is cut off then ends the process by a signal.
bool isCompleteLibrary(const char *path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  uint64_t size = file ? static_cast<uint64_t>(file.tellg()) : 0;
  Elf64_Ehdr header;
  file.seekg(0);
  if (!file.read(reinterpret_cast<char *>(&header), sizeof(header)) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN ||
      header.e_phentsize != sizeof(Elf64_Phdr))
    return false;
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!file.read(reinterpret_cast<char *>(&segment), sizeof(segment)) ||
        segment.p_filesz > size || segment.p_offset > size - segment.p_filesz)
      return false;
  }
  return true;
}

/// Whether this machine runs code for that level; levels that are not of the
/// x86-64 series are left to the artifact's own check.
bool cpuHas(const std::string &level) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (level == "x86-64-v2")
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
  if (level == "x86-64-v3")
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2");
  if (level == "x86-64-v4")
    return __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq");
#endif
  return true;
}

Result<ArgumentInfo> readArgument(const coda_arg_info &raw, bool isInput,
                                  int index) {
  std::string which = (isInput ? "input " : "output ") + std::to_string(index);
  ArgumentInfo info;
  info.name = raw.name ? raw.name : "";
  if (info.name.empty())
    info.name = (isInput ? "arg" : "out") + std::to_string(index);
  Result<DType> type = fromDLPack(raw.dtype);
  if (!type.ok())
    return Failure{which + ": " + type.error().message};
  info.type = *type;
  if (raw.ndim < 0 || raw.ndim > 64 || (raw.ndim > 0 && !raw.shape))
    return Failure{which + " has rank " + std::to_string(raw.ndim)};
  info.shape.assign(raw.shape, raw.shape + raw.ndim);
  for (int64_t extent : info.shape)
    if (extent < -1)
      return Failure{which + " has an extent of " + std::to_string(extent)};
  return info;
}

Result<EntryInfo> readEntry(const coda_entry_info &raw) {
  EntryInfo entry;
  entry.table = &raw;
  entry.name = raw.name ? raw.name : "";
  entry.numLaunches = raw.num_launches;
  int64_t total = int64_t(raw.num_inputs) + raw.num_outputs;
  if (entry.name.empty() || !raw.call || !raw.workspace || raw.num_inputs < 0 ||
      raw.num_outputs < 0 || total > INT_MAX || (total > 0 && !raw.args))
    return Failure{"entry '" + entry.name + "' is incomplete"};
  for (int32_t i = 0; i < total; ++i) {
    bool isInput = i < raw.num_inputs;
    Result<ArgumentInfo> argument =
        readArgument(raw.args[i], isInput, isInput ? i : i - raw.num_inputs);
    if (!argument.ok())
      return Failure{"entry '" + entry.name + "': " + argument.error().message};
    (isInput ? entry.inputs : entry.outputs).push_back(std::move(*argument));
  }
  return entry;
}

} // namespace

Result<Artifact> Artifact::load(const std::string &path,
                                const std::string &shownAs) {
  // A name without a slash would make dlopen search the system's folders.
  char *resolved = realpath(path.c_str(), nullptr);
  if (!resolved)
    return Failure{"cannot read '" + path + "': " + std::strerror(errno)};
  Artifact artifact;
  artifact.file = shownAs.empty() ? path : shownAs;
  bool complete = isCompleteLibrary(resolved);
  void *library = complete ? dlopen(resolved, RTLD_NOW | RTLD_LOCAL) : nullptr;
  std::free(resolved);
  if (!library) {
    const char *text =
        complete ? dlerror()
                 : "it is no complete shared library of this machine's kind";
    return Failure{"cannot load '" + path + "': " + (text ? text : "unknown") +
                   "; give a shared library that coda-compile wrote"};
  }
  void *symbol = dlsym(library, "coda_module_v1");
  if (!symbol) {
    dlclose(library);
    return Failure{"'" + path +
                   "' exports no coda_module_v1; give a shared library that "
                   "coda-compile wrote"};
  }
  coda_module_v1_fn function;
  std::memcpy(&function, &symbol, sizeof(function));
  const coda_module *table = function();
  if (!table || table->version != 1)
    return Failure{"'" + path + "' has a table of version " +
                   std::to_string(table ? table->version : 0) +
                   ", not 1; compile it again"};
  artifact.table = table;
  artifact.targetName = table->target ? table->target : "";
  std::string cpu = table->cpu ? table->cpu : "";
  if (!cpuHas(cpu))
    return Failure{"'" + path + "' was compiled for " + cpu +
                   ", which this CPU is not; compile it again with "
                   "--cpu=native on this machine"};
  if (table->num_entries < 0 || (table->num_entries > 0 && !table->entries))
    return Failure{"'" + path + "' has a damaged table; compile it again"};
  for (int32_t i = 0; i < table->num_entries; ++i) {
    Result<EntryInfo> entry = readEntry(table->entries[i]);
    if (!entry.ok())
      return Failure{"'" + path + "' has a damaged table: " +
                     entry.error().message + "; compile it again"};
    artifact.entryList.push_back(std::move(*entry));
  }
  return artifact;
}

Result<const EntryInfo *> Artifact::find(const std::string &name) const {
  std::string known;
  for (const EntryInfo &entry : entryList) {
    if (entry.name == (name.empty() ? "main" : name))
      return &entry;
    known += (known.empty() ? "" : ", ") + entry.name;
  }
  if (name.empty() && entryList.size() == 1)
    return &entryList.front();
  std::string has = entryList.empty() ? "no entry" : "entries: " + known;
  if (name.empty())
    return Failure{"'" + file + "' has no entry 'main'; choose with --entry (" +
                   has + ")"};
  return Failure{"'" + file + "' has no entry '" + name + "' (" + has + ")"};
}

Status Artifact::initialise(int32_t device) const {
  if (!table->init || table->init(device) == CODA_OK)
    return {};
  return Failure{"'" + file + "' cannot be initialised: " + lastError()};
}

std::string Artifact::lastError() const {
  const char *text = table->last_error ? table->last_error() : nullptr;
  return text && *text ? text : "no reason given";
}

} // namespace mlir::coda::runtime
