// RUN: coda-opt %s --coda-to-host --verify-diagnostics

// expected-error@below {{no public function to export}}
module {
  func.func private @f(%a: memref<4xf32>) {
    return
  }
}
