//===- Ptxas.cpp - The assembler of the CUDA toolkit ----------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Target/Ptxas.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::coda_gpu;

/// The number that stands before `what` in `line`; 0 if there is none.
static unsigned numberBefore(StringRef line, StringRef what) {
  size_t pos = line.find(what);
  if (pos == StringRef::npos)
    return 0;
  StringRef head = line.take_front(pos).rtrim();
  StringRef digits =
      head.take_back(head.size() - (head.find_last_not_of("0123456789") + 1));
  unsigned value = 0;
  if (digits.getAsInteger(10, value))
    return 0;
  return value;
}

/// The function that `line` is about: quoted, or its last word.
static StringRef nameIn(StringRef line) {
  StringRef quoted = line.split('\'').second;
  if (!quoted.empty())
    return quoted.split('\'').first;
  return line.rtrim().rsplit(' ').second;
}

PtxasReport coda_gpu::parsePtxasLog(StringRef log) {
  PtxasReport report;
  report.log = log.str();
  SmallVector<StringRef> lines;
  log.split(lines, '\n');
  auto raise = [](unsigned &slot, unsigned value) {
    slot = std::max(slot, value);
  };
  StringRef kernel;
  auto change = [&](StringRef name, unsigned bytes) {
    for (auto &[known, spilled] : report.changed)
      if (name == known)
        return (void)(spilled += bytes);
    if (!name.empty())
      report.changed.emplace_back(name.str(), bytes);
  };
  for (StringRef line : lines) {
    if (line.contains("Compiling entry function") ||
        line.contains("Function properties for"))
      kernel = nameIn(line);
    raise(report.stackBytes, numberBefore(line, "bytes stack frame"));
    raise(report.spillStoreBytes, numberBefore(line, "bytes spill stores"));
    raise(report.spillLoadBytes, numberBefore(line, "bytes spill loads"));
    raise(report.sharedBytes, numberBefore(line, "bytes smem"));
    size_t used = line.find("Used ");
    if (used != StringRef::npos)
      raise(report.registers, numberBefore(line, "registers"));
    if (unsigned bytes = numberBefore(line, "bytes spill stores") +
                         numberBefore(line, "bytes spill loads"))
      change(kernel, bytes);
    if (line.contains("wgmma") && line.contains("serializ")) {
      report.serialized = true;
      change(nameIn(line), 0);
    }
  }
  return report;
}

std::string coda_gpu::findPtxas(StringRef hint) {
  if (!hint.empty()) {
    if (llvm::sys::fs::can_execute(hint))
      return hint.str();
    if (auto found = llvm::sys::findProgramByName(hint))
      return *found;
    return "";
  }
  if (auto found = llvm::sys::findProgramByName("ptxas"))
    return *found;
  if (llvm::sys::fs::can_execute("/usr/local/cuda/bin/ptxas"))
    return "/usr/local/cuda/bin/ptxas";
  return "";
}

FailureOr<std::string> coda_gpu::assemblePtx(StringRef ptx, StringRef chip,
                                             StringRef ptxas,
                                             PtxasReport &report,
                                             std::string &error,
                                             bool lineInfo) {
  SmallString<128> in, out, log;
  auto temporary = [&](StringRef suffix, SmallString<128> &path) {
    if (std::error_code ec =
            llvm::sys::fs::createTemporaryFile("coda", suffix, path)) {
      error = "cannot make a temporary file: " + ec.message();
      return failure();
    }
    return success();
  };
  if (failed(temporary("ptx", in)))
    return failure();
  llvm::FileRemover removeIn(in);
  if (failed(temporary("cubin", out)))
    return failure();
  llvm::FileRemover removeOut(out);
  if (failed(temporary("log", log)))
    return failure();
  llvm::FileRemover removeLog(log);
  {
    std::error_code ec;
    llvm::raw_fd_ostream stream(in, ec);
    if (!ec)
      // The serialiser ends PTX with a null character.
      stream << ptx.rtrim('\0');
    stream.close();
    if (ec || stream.has_error()) {
      stream.clear_error();
      error = "cannot write " + in.str().str();
      return failure();
    }
  }
  std::string arch = ("-arch=" + chip).str();
  SmallVector<StringRef> args = {ptxas, arch, "-O3", "-v", in, "-o", out};
  if (lineInfo)
    args.push_back("-lineinfo");
  std::optional<StringRef> redirects[] = {std::nullopt, log.str(), log.str()};
  std::string message;
  int status = llvm::sys::ExecuteAndWait(ptxas, args, std::nullopt, redirects,
                                         /*SecondsToWait=*/300,
                                         /*MemoryLimit=*/0, &message);
  auto logBuffer = llvm::MemoryBuffer::getFile(log);
  StringRef text = logBuffer ? (*logBuffer)->getBuffer() : StringRef();
  report = parsePtxasLog(text);
  if (status != 0) {
    error = "ptxas failed: " + (message.empty() ? text.trim().str() : message);
    return failure();
  }
  auto cubin = llvm::MemoryBuffer::getFile(out, /*IsText=*/false);
  if (!cubin) {
    error = "ptxas wrote no output";
    return failure();
  }
  return (*cubin)->getBuffer().str();
}
