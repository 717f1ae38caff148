#!/bin/sh
# Gives coda-run everything that it has to refuse, and prints for each what it
# says and its exit code.
#   bad-input.sh CODA_RUN FOLDER INPUTS CC INCLUDE
coda_run=$1
folder=$2
inputs=$3
cc=$4
include=$5
cp "$inputs"/*.npz "$inputs"/toy.json "$folder"
cd "$folder" || exit 1
build() {
  output=$1
  shift
  "$cc" -shared -fPIC -I "$include" "$inputs/toy.c" "$@" -o "$output" || exit 1
}
build notable.so -DNO_TABLE
build version.so -DFAULT=9
build type.so -DFAULT=10
build gpu.so -DFAULT=11
build init.so -DFAULT=12
build refuses.so -DFAULT=6
build wide.so -DELEMENT=64
head -c 1000 toy.so >cut.so
: >inputs.txt
: >empty.json
: >empty.npz
mkdir folder.json
cat >circle.json <<'JSON'
{"seed": 1, "args": [{"name": "x", "kind": "result_of", "graph": "circle",
 "result": 0, "shape": [6, 4], "dtype": "f32"}]}
JSON
sed 's/"circle"/"nowhere"/' circle.json >lost.json
ls -A >../before.txt

try() {
  printf '== %s\n' "$*"
  "$coda_run" "$@"
  echo "exit $?"
}
try --frobnicate
try
try toy.so
try toy.so toy.so
try toy.so --seed=x
try toy.so --seed=99999999999999999999
try toy.so --seed
try toy.so --entry=a --entry=b --seed=1
try toy.so --seed=1 --inputs=inputs.npz
try toy.so --inputs=inputs.txt
try toy.so --seed=1 --device=tpu
try toy.so --seed=1 --seed=2
try toy.so --seed=1 --numerics=fast
try toy.so --seed=1 --f32-products=tf32
try toy.so --seed=1 --numerics=batch-invariant
try toy.so --seed=1 --numerics=strict --device=cuda
try toy.so --inputs=folder.json
try toy.so --inputs=empty.json
try toy.so --inputs=empty.npz
try toy.so --inputs=toy.json --out=new.npz --json=new.npz
try toy.so --inputs=toy.json --json=toy.json
try toy.so --seed=1 --check=golden.npz --out=golden.npz
try toy.so --seed=1 --compile-arg=--target=sm_90a
try toy.so --seed=1 --compile-arg=other.mlir
try toy.so --inputs=toy.json --out=folder.json
try toy.so --inputs=toy.json --json=folder.json
try toy.so --seed=1 --check=golden.npz --against-reference
try toy.so --seed=1 --against-reference
try toy.so --seed=1 --numerics=strict
try toy.so --seed=1 --verbose=yes

try none.so --seed=1
try . --seed=1
try notable.so --seed=1
try cut.so --seed=1
try version.so --seed=1
try type.so --seed=1
try gpu.so --seed=1
try init.so --inputs=toy.json
try refuses.so --inputs=toy.json
try toy.so --seed=1 --entry=backward

try toy.so --inputs=toy.json --extent=5
try toy.so --seed=1 --extent=-5
try toy.so --inputs=none.npz
try toy.so --inputs=none.json
try toy.so --inputs=cut.npz
try toy.so --inputs=missing.npz
try toy.so --inputs=extra.npz
try toy.so --inputs=twice.npz
try toy.so --inputs=shape.npz
try toy.so --inputs=dtype.npz
try toy.so --inputs=complex.npz
try toy.so --entry=count --inputs=toy.json
try wide.so --inputs=toy.json
try toy.so --inputs=circle.json
try toy.so --inputs=lost.json

try toy.so --inputs=toy.json --check=none.npz
try toy.so --inputs=toy.json --check=golden_name.npz
try toy.so --inputs=toy.json --check=golden_index.npz
try toy.so --inputs=toy.json --check=golden_shape.npz
try toy.so --inputs=toy.json --check=golden_every_shape.npz
try toy.so --inputs=toy.json --check=golden_eager_only.npz
try toy.so --inputs=toy.json --check=golden_type.npz
try toy.so --inputs=toy.json --check=golden_empty.npz

try toy.so --inputs=toy.json --out=none/out.npz
try toy.so --inputs=toy.json --json=none/out.json

printf '== left behind\n'
ls -A | diff ../before.txt - >&2 && echo nothing
rm -f ../before.txt
