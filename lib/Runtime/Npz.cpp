//===- Npz.cpp - NumPy's .npz archives ------------------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Runtime/Npz.h"

#include "coda/Runtime/Files.h"

#include <minizip/unzip.h>
#include <minizip/zip.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace mlir::coda::runtime {

namespace {

struct UnzCloser {
  void operator()(void *file) const { unzClose(file); }
};

/// NumPy's type codes, little-endian or without byte order.
struct NpyType {
  const char *descr;
  DType type;
};
constexpr NpyType kNpyTypes[] = {
    {"<f8", DType::F64},  {"<f4", DType::F32}, {"<f2", DType::F16},
    {"<u2", DType::BF16}, {"<i8", DType::I64}, {"<i4", DType::I32},
    {"<i2", DType::I16},  {"|i1", DType::I8},  {"|b1", DType::Bool},
    // What the reader takes for a boolean may be the bits of an 8-bit float.
    {"|u1", DType::F8E4M3FN}, {"|u1", DType::F8E5M2}, {"|u1", DType::Bool},
};

/// A cursor over the Python dictionary in the header of an .npy file: string
/// keys, and string, boolean or integer-tuple values.
class HeaderParser {
public:
  explicit HeaderParser(std::string text) : text(std::move(text)) {}

  bool parse(std::string &descr, bool &fortran, std::vector<int64_t> &shape) {
    int seen = 0;
    if (!take('{'))
      return false;
    while (!take('}')) {
      std::string key;
      if (!string(key) || !take(':'))
        return false;
      if (key == "descr"           ? !string(descr)
          : key == "fortran_order" ? !boolean(fortran)
          : key == "shape"         ? !tuple(shape)
                                   : true)
        return false;
      ++seen;
      take(',');
    }
    return seen == 3;
  }

private:
  void skipSpace() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n'))
      ++at;
  }
  bool take(char c) {
    skipSpace();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  bool word(const char *expected) {
    skipSpace();
    size_t length = std::strlen(expected);
    if (text.compare(at, length, expected) != 0)
      return false;
    at += length;
    return true;
  }
  bool string(std::string &value) {
    skipSpace();
    if (at >= text.size() || (text[at] != '\'' && text[at] != '"'))
      return false;
    size_t end = text.find(text[at], at + 1);
    if (end == std::string::npos)
      return false;
    value = text.substr(at + 1, end - at - 1);
    at = end + 1;
    return true;
  }
  bool boolean(bool &value) {
    value = word("True");
    return value || word("False");
  }
  bool tuple(std::vector<int64_t> &values) {
    if (!take('('))
      return false;
    while (!take(')')) {
      skipSpace();
      size_t start = at;
      int64_t value = 0;
      while (at < text.size() && text[at] >= '0' && text[at] <= '9' &&
             at - start < 18)
        value = value * 10 + (text[at++] - '0');
      if (at == start)
        return false;
      values.push_back(value);
      take(',');
    }
    return true;
  }

  std::string text;
  size_t at = 0;
};

/// Copies column-major data into a row-major tensor.
void copyFortranOrder(const unsigned char *data, Tensor &to) {
  size_t element = sizeOf(to.type);
  size_t rank = to.shape.size();
  std::vector<int64_t> index(rank, 0);
  for (size_t i = 0, n = to.size(); i < n; ++i) {
    size_t source = 0;
    for (size_t d = rank; d-- > 0;)
      source = source * to.shape[d] + index[d];
    std::memcpy(to.bytes.data() + i * element, data + source * element,
                element);
    for (size_t d = rank; d-- > 0 && ++index[d] == to.shape[d];)
      index[d] = 0;
  }
}

/// The header and padding of an .npy file of version 1.0.
std::string npyHeader(const Tensor &tensor) {
  const char *descr = "";
  for (const NpyType &type : kNpyTypes)
    if (type.type == tensor.type) {
      descr = type.descr;
      break;
    }
  std::string header = std::string("{'descr': '") + descr +
                       "', 'fortran_order': False, 'shape': (";
  for (int64_t extent : tensor.shape)
    header += std::to_string(extent) + ",";
  header += "), }";
  // Magic, version and length take 10 bytes; data starts at a multiple of 64.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string prefix("\x93NUMPY\x01\x00", 8);
  prefix += static_cast<char>(header.size() & 255);
  prefix += static_cast<char>(header.size() >> 8);
  return prefix + header;
}

/// Writes `size` bytes into the open member; zip takes 32-bit lengths.
bool writeAll(zipFile file, const void *data, size_t size) {
  const char *at = static_cast<const char *>(data);
  while (size) {
    unsigned chunk = static_cast<unsigned>(std::min(size, size_t(1) << 30));
    if (zipWriteInFileInZip(file, at, chunk) != ZIP_OK)
      return false;
    at += chunk;
    size -= chunk;
  }
  return true;
}

} // namespace

Result<Tensor> parseNpy(const unsigned char *data, size_t size,
                        const std::string &what) {
  if (size < 10 || std::memcmp(data, "\x93NUMPY", 6) != 0)
    return Failure{what + " is not a NumPy array (no \\x93NUMPY at its start)"};
  size_t start = data[6] == 1 ? 10 : 12;
  if (data[6] < 1 || data[6] > 3 || size < start)
    return Failure{what + " has an unknown .npy version; write it with "
                          "numpy.savez"};
  size_t length = data[8] | size_t(data[9]) << 8;
  if (data[6] > 1)
    length |= size_t(data[10]) << 16 | size_t(data[11]) << 24;
  if (length > size - start)
    return Failure{what + " is cut off inside its header"};

  std::string descr;
  bool fortran = false;
  std::vector<int64_t> shape;
  std::string text(reinterpret_cast<const char *>(data) + start, length);
  if (!HeaderParser(std::move(text)).parse(descr, fortran, shape))
    return Failure{what + " has a malformed .npy header"};
  const NpyType *found = nullptr;
  for (const NpyType &type : kNpyTypes)
    if (descr == type.descr)
      found = &type;
  if (!found)
    return Failure{what + " has element type '" + descr +
                   "', which is not supported; store float64, float32, "
                   "float16, uint16 (the bits of bf16), uint8 (those of an "
                   "8-bit float), int64, int32, int16, "
                   "int8 or bool, little-endian"};
  Result<size_t> count = countElements(shape, found->type);
  if (!count.ok())
    return Failure{what + ": " + count.error().message};
  size_t bytes = *count * sizeOf(found->type);
  if (size - start - length != bytes)
    return Failure{what + " has " + std::to_string(size - start - length) +
                   " bytes of data where its shape " +
                   describe(shape, found->type) + " needs " +
                   std::to_string(bytes)};
  Tensor tensor(found->type, shape);
  const unsigned char *values = data + start + length;
  if (fortran && shape.size() > 1)
    copyFortranOrder(values, tensor);
  else if (bytes)
    std::memcpy(tensor.bytes.data(), values, bytes);
  return tensor;
}

Result<NamedTensors> readNpz(const std::string &path) {
  if (Status readable = checkReadable(path); !readable.ok())
    return readable.error();
  struct stat status;
  if (stat(path.c_str(), &status) != 0)
    return Failure{"cannot read '" + path + "': " + std::strerror(errno)};
  std::unique_ptr<void, UnzCloser> file(unzOpen64(path.c_str()));
  if (!file)
    return Failure{"'" + path +
                   "' is not an .npz archive, or it is empty or cut off; write "
                   "it again with numpy.savez"};

  NamedTensors arrays;
  for (int at = unzGoToFirstFile(file.get()); at != UNZ_END_OF_LIST_OF_FILE;
       at = unzGoToNextFile(file.get())) {
    unz_file_info64 info;
    char name[512];
    if (at != UNZ_OK ||
        unzGetCurrentFileInfo64(file.get(), &info, name, sizeof(name), nullptr,
                                0, nullptr, 0) != UNZ_OK ||
        info.size_filename >= sizeof(name))
      return Failure{"'" + path + "' has a damaged zip directory"};
    std::string key(name, info.size_filename);
    std::string what = "array '" + key + "' of '" + path + "'";
    if (key.size() > 4 && key.compare(key.size() - 4, 4, ".npy") == 0)
      key.resize(key.size() - 4);
    // Deflate gives at most a factor of 1032, which bounds what a damaged
    // size field can ask for.
    if (info.uncompressed_size > memoryLimit() ||
        info.uncompressed_size / 1032 > static_cast<uint64_t>(status.st_size))
      return Failure{what + " claims " +
                     std::to_string(info.uncompressed_size) +
                     " bytes, which its file cannot hold"};
    if (unzOpenCurrentFile(file.get()) != UNZ_OK)
      return Failure{what + " cannot be opened: damaged or compressed by a "
                            "method other than deflate"};
    AlignedBytes bytes(info.uncompressed_size);
    size_t done = 0;
    while (done < bytes.size()) {
      unsigned chunk =
          static_cast<unsigned>(std::min(bytes.size() - done, size_t(1) << 30));
      int got = unzReadCurrentFile(file.get(), bytes.data() + done, chunk);
      if (got <= 0)
        break;
      done += static_cast<size_t>(got);
    }
    int closed = unzCloseCurrentFile(file.get());
    if (done != bytes.size() || closed != UNZ_OK)
      return Failure{what + " is damaged (" +
                     (closed == UNZ_CRCERROR ? "wrong checksum" : "cut off") +
                     "); write it again"};
    Result<Tensor> tensor = parseNpy(bytes.data(), bytes.size(), what);
    if (!tensor.ok())
      return tensor.error();
    if (!arrays.emplace(key, std::move(*tensor)).second)
      return Failure{what + " appears twice"};
  }
  return arrays;
}

Status
writeNpz(const std::string &path,
         const std::vector<std::pair<std::string, const Tensor *>> &arrays) {
  Result<OutputFile> output = OutputFile::create(path);
  if (!output.ok())
    return output.error();
  zipFile file = zipOpen64(output->name().c_str(), APPEND_STATUS_CREATE);
  if (!file)
    return output->commit(false);
  bool good = true;
  for (const auto &[name, tensor] : arrays) {
    // The time stamp of all members is the start of the zip calendar, so that
    // equal arrays make equal files.
    zip_fileinfo info = {};
    info.tmz_date.tm_mday = 1;
    info.tmz_date.tm_year = 1980;
    std::string header = npyHeader(*tensor);
    size_t size = header.size() + tensor->bytes.size();
    good = good &&
           zipOpenNewFileInZip64(file, (name + ".npy").c_str(), &info, nullptr,
                                 0, nullptr, 0, nullptr, 0, 0,
                                 size >= 0xFFFFFFFFu) == ZIP_OK &&
           writeAll(file, header.data(), header.size()) &&
           writeAll(file, tensor->bytes.data(), tensor->bytes.size()) &&
           zipCloseFileInZip(file) == ZIP_OK;
  }
  good = zipClose(file, nullptr) == ZIP_OK && good;
  return output->commit(good);
}

} // namespace mlir::coda::runtime
