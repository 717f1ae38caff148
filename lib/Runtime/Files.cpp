//===- Files.cpp - reading and writing files ----------------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Runtime/Files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mlir::coda::runtime {

Status checkReadable(const std::string &path) {
  struct stat status;
  std::string why;
  if (stat(path.c_str(), &status) != 0)
    why = std::strerror(errno);
  else if (S_ISDIR(status.st_mode))
    why = "it is a folder; give the path of a file";
  else if (!S_ISREG(status.st_mode))
    why = "it is not a regular file";
  else if (access(path.c_str(), R_OK) != 0)
    why = std::strerror(errno);
  if (!why.empty())
    return Failure{"cannot read '" + path + "': " + why};
  return {};
}

static Failure cannotWrite(const std::string &path, const std::string &why) {
  return Failure{"cannot write '" + path + "': " + why};
}

Result<OutputFile> OutputFile::create(const std::string &path) {
  OutputFile file(path);
  struct stat status;
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    if (S_ISDIR(status.st_mode))
      return cannotWrite(path, "it is a folder; give the path of a file");
    return file;
  }
  file.temporary = path + ".tmp" + std::to_string(getpid());
  int descriptor = open(file.temporary.c_str(),
                        O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    std::string why = std::strerror(errno);
    file.temporary.clear();
    return cannotWrite(path, why + "; give a path in a folder that is there and "
                                   "may be written to");
  }
  close(descriptor);
  return file;
}

OutputFile::OutputFile(OutputFile &&other) {
  path.swap(other.path);
  temporary.swap(other.temporary);
}

OutputFile::~OutputFile() {
  if (!temporary.empty())
    unlink(temporary.c_str());
}

Status OutputFile::commit(bool good) {
  if (good && !temporary.empty())
    good = std::rename(temporary.c_str(), path.c_str()) == 0;
  if (!good)
    return cannotWrite(path, std::strerror(errno));
  temporary.clear();
  return {};
}

} // namespace mlir::coda::runtime
