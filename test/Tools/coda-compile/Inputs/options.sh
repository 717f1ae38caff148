# What coda-compile says to options that it has to refuse: the exit code and all
# that is printed, on one line each.
try() {
  input=$1
  shift
  text=$(coda-compile $input -o ${output:-out.so} "$@" 2>&1)
  echo "== ${name:-$*}: $? $text"
}
try good.mlir --grad --save=most
try good.mlir --grad --grad-constants=9
try good.mlir --grad --grad-constants=-1
try good.mlir --grad --grad-constants=x
try good.mlir --grad --grad-dtype=f8
try good.mlir --grad --residual-grad=i8
try good.mlir --grad --recompute-over=-1
try good.mlir --grad --entry=other
try good.mlir --entry=other
try good.mlir --target=sm_80
try good.mlir --report=
try good.mlir --cpu=native --cpu=native
try good.mlir --no-fuse=maybe
try good.mlir --target=sm_90a --schedule-db=none.json
try good.mlir --target=sm_90a --schedule-db=empty.mlir
try good.mlir --report=folder.json
cp good.mlir same.json
output=same.json name="-o and --report" try good.mlir --report=same.json
try same.json --report=same.json
output=same.json name="-o same.json" try same.json --emit=fused
cmp good.mlir same.json && rm same.json
for output in folder pipe -; do name="-o $output" try good.mlir; done
output=
printf 'a\0b' >bytes.mlir
for input in folder empty.mlir bytes.mlir; do name=$input try $input; done
