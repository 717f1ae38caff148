# Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a schedule database with candidate NUMBER of each kernel of LIST."""
import json
import sys

with open(sys.argv[1]) as file:
    kernels = json.load(file)["kernels"]
print(json.dumps(dict(version=1, gpus=dict(forced={
    kernel["key"]: dict(schedule=kernel["schedules"][int(sys.argv[2])]) for kernel in kernels}))))
