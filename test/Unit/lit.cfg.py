# The gtest binaries of test/unittests, one lit test per gtest case.
import os

import lit.formats

config.name = "coda-Unit"
config.suffixes = []
config.test_exec_root = os.path.join(config.coda_obj_root, "test", "unittests")
config.test_source_root = config.test_exec_root
config.test_format = lit.formats.GoogleTest(".", "Tests")
