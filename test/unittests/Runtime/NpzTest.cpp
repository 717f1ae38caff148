//===- NpzTest.cpp - NumPy's archives -------------------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Runtime/Npz.h"

#include "gtest/gtest.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir::coda::runtime;

namespace {

const std::string kInputs = CODA_TEST_INPUTS;

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)),
                     std::istreambuf_iterator<char>());
}

std::string writeFile(const std::string &name, const std::string &bytes) {
  std::string path = testing::TempDir() + "coda_" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

/// An .npy of version 1.0 with this header text and data.
Result<Tensor> parse(const std::string &header, const std::string &data) {
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size());
  bytes += '\0';
  bytes += header + data;
  return parseNpy(reinterpret_cast<const unsigned char *>(bytes.data()),
                  bytes.size(), "array 'a'");
}

std::string parseError(const std::string &header, const std::string &data) {
  Result<Tensor> tensor = parse(header, data);
  return tensor.ok() ? "no error" : tensor.error().message;
}

TEST(Npz, RoundTrip) {
  std::vector<Tensor> tensors;
  for (DType type :
       {DType::F64, DType::F32, DType::F16, DType::BF16, DType::I64, DType::I32,
        DType::I16, DType::I8, DType::Bool}) {
    Tensor tensor(type, {2, 3});
    for (size_t i = 0; i < 6; ++i)
      tensor.set(i, type == DType::Bool ? i % 2 : double(i) - 3);
    tensors.push_back(std::move(tensor));
  }
  tensors.emplace_back(DType::F32, std::vector<int64_t>{});
  tensors.emplace_back(DType::F32, std::vector<int64_t>{4, 0, 2});
  std::vector<std::pair<std::string, const Tensor *>> arrays;
  for (size_t i = 0; i < tensors.size(); ++i)
    arrays.emplace_back("out" + std::to_string(i), &tensors[i]);
  std::string path = testing::TempDir() + "coda_roundtrip.npz";
  Status status = writeNpz(path, arrays);
  ASSERT_TRUE(status.ok()) << status.error().message;
  std::string first = readFile(path);
  Result<NamedTensors> back = readNpz(path);
  ASSERT_TRUE(back.ok()) << back.error().message;
  ASSERT_EQ(back->size(), tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor &tensor = back->at("out" + std::to_string(i));
    EXPECT_EQ(tensor.type, tensors[i].type);
    EXPECT_EQ(tensor.shape, tensors[i].shape);
    ASSERT_EQ(tensor.bytes.size(), tensors[i].bytes.size());
    EXPECT_EQ(std::memcmp(tensor.bytes.data(), tensors[i].bytes.data(),
                          tensor.bytes.size()),
              0);
  }
  // Equal arrays make equal files.
  ASSERT_TRUE(writeNpz(path, arrays).ok());
  EXPECT_EQ(readFile(path), first);
}

TEST(Npz, WritesNothingWhereItCannot) {
  Tensor tensor(DType::F32, {2});
  Status status = writeNpz("/nonexistent/x.npz", {{"out0", &tensor}});
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("cannot write '/nonexistent/x.npz'"),
            std::string::npos);
  // A folder in the way: the temporary file beside it is gone again.
  std::string folder = testing::TempDir() + "coda_folder.npz";
  mkdir(folder.c_str(), 0700);
  EXPECT_FALSE(writeNpz(folder, {{"out0", &tensor}}).ok());
  struct stat information;
  std::string temporary = folder + ".tmp" + std::to_string(getpid());
  EXPECT_NE(stat(temporary.c_str(), &information), 0);
}

TEST(Npz, DamagedArchives) {
  EXPECT_NE(readNpz("/nonexistent.npz")
                .error()
                .message.find("cannot read '/nonexistent.npz': No such file"),
            std::string::npos);
  EXPECT_NE(readNpz("/").error().message.find("it is a folder"),
            std::string::npos);
  EXPECT_NE(
      readNpz(writeFile("text.npz", "no archive"))
          .error()
          .message.find("is not an .npz archive, or it is empty or cut off"),
      std::string::npos);
  // Whatever the length, a prefix of an archive is refused, not read.
  std::string bytes = readFile(kInputs + "/every_kind.npz");
  ASSERT_GT(bytes.size(), 1000u);
  for (size_t length = 0; length < bytes.size(); length += 997)
    EXPECT_FALSE(readNpz(writeFile("cut.npz", bytes.substr(0, length))).ok());
  // A flipped bit in the data of a member shows in its checksum.
  std::string flipped = bytes;
  flipped[200] ^= 0x10;
  Result<NamedTensors> arrays = readNpz(writeFile("flipped.npz", flipped));
  ASSERT_FALSE(arrays.ok());
  EXPECT_NE(arrays.error().message.find("is damaged"), std::string::npos);
}

TEST(Npz, FortranOrder) {
  int32_t values[6] = {0, 3, 1, 4, 2, 5};
  std::string data(reinterpret_cast<char *>(values), sizeof(values));
  Result<Tensor> tensor = parse(
      "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }\n", data);
  ASSERT_TRUE(tensor.ok()) << tensor.error().message;
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(tensor->get(i), double(i));
}

TEST(Npz, MalformedArrays) {
  const std::string f32 = "'descr': '<f4', 'fortran_order': False, ";
  EXPECT_EQ(parseError("{" + f32 + "'shape': (1,), }", "abcd"), "no error");
  EXPECT_EQ(parseError("{" + f32 + "'shape': (), }", "abcd"), "no error");
  EXPECT_NE(parseError("{" + f32 + "'shape': (2,), }", "abcd")
                .find("has 4 bytes of data where its shape 2:f32 needs 8"),
            std::string::npos);
  EXPECT_NE(parseError("{" + f32 + "}", "").find("malformed .npy header"),
            std::string::npos);
  EXPECT_NE(
      parseError("{" + f32 + "'shape': (2", "").find("malformed .npy header"),
      std::string::npos);
  EXPECT_NE(
      parseError("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }",
                 "abcd")
          .find("element type '>f4', which is not supported"),
      std::string::npos);
  EXPECT_NE(parseError("{" + f32 + "'shape': (99999999999999999,), }", "")
                .find("does not fit into the memory"),
            std::string::npos);
  EXPECT_FALSE(parseNpy(nullptr, 0, "array 'a'").ok());
}

} // namespace
