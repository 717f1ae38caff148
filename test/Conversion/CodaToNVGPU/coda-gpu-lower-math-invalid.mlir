// RUN: coda-opt %s --coda-gpu-lower-math --split-input-file --verify-diagnostics

func.func @erf(%x: f64) -> f64 {
  // expected-error @+1 {{'math.erf' of 'f64' has neither an instruction nor an expansion on sm_90a; write it with other functions, or compile for the CPU}}
  %0 = math.erf %x : f64
  return %0 : f64
}

// -----

func.func @erf_of_pair(%x: vector<2xf64>) -> vector<2xf64> {
  // expected-error @+1 {{'math.erf' of 'f64' has neither an instruction nor an expansion on sm_90a; write it with other functions, or compile for the CPU}}
  %0 = math.erf %x : vector<2xf64>
  return %0 : vector<2xf64>
}
