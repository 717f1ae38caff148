//===- Process.cpp - starting other tools ---------------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Runtime/Process.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace mlir::coda::runtime {

Result<TemporaryFolder> TemporaryFolder::create() {
  const char *root = std::getenv("TMPDIR");
  std::string path =
      std::string(root && *root ? root : "/tmp") + "/coda-XXXXXX";
  if (!mkdtemp(path.data()))
    return Failure{"cannot make a folder '" + path +
                   "': " + std::strerror(errno) +
                   "; set TMPDIR to a folder that can be written"};
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!folder.empty())
    std::filesystem::remove_all(folder, ignored);
}

Result<std::string> findTool(const std::string &name) {
  auto isExecutable = [](const std::string &path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error) &&
           access(path.c_str(), X_OK) == 0;
  };
  std::error_code error;
  std::filesystem::path self =
      std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    std::string beside = (self.parent_path() / name).string();
    if (isExecutable(beside))
      return beside;
  }
  const char *variable = std::getenv("PATH");
  std::string path = variable ? variable : "";
  for (size_t start = 0; start <= path.size();) {
    size_t end = path.find(':', start);
    if (end == std::string::npos)
      end = path.size();
    std::string candidate = path.substr(start, end - start) + "/" + name;
    if (end > start && isExecutable(candidate))
      return candidate;
    start = end + 1;
  }
  return Failure{"cannot find " + name +
                 " beside this program or on PATH; install it, or give a "
                 "compiled artifact instead of IR"};
}

Result<ProcessResult> runProcess(const std::vector<std::string> &argv,
                                 const std::string &logPath) {
  std::vector<char *> pointers;
  for (const std::string &argument : argv)
    pointers.push_back(const_cast<char *>(argument.c_str()));
  pointers.push_back(nullptr);

  // Output goes to a file, not a pipe, so that no reader has to keep up.
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, logPath.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  int error = posix_spawn(&child, pointers[0], &actions, nullptr,
                          pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    return Failure{"cannot start '" + argv[0] + "': " + std::strerror(error)};
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return Failure{"cannot wait for '" + argv[0] +
                     "': " + std::strerror(errno)};
  ProcessResult result;
  result.code =
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::ifstream log(logPath, std::ios::binary);
  result.output.assign(std::istreambuf_iterator<char>(log),
                       std::istreambuf_iterator<char>());
  return result;
}

} // namespace mlir::coda::runtime
