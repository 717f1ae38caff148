# Gradients of one file beside differences of another.
#   differences.sh FOLDER
cd "$1" || exit 1
try() {
  echo "== $2 by $1 at $3 $4"
  REFERENCE=$2.mlir bin/coda-run $1.mlir --grad --differences --inputs=$3.npz --no-unfused --repeat=0 $4 --json=$3.out.json
  echo "exit $?"
}
try smooth smooth values
try scaled smooth values
try other smooth values
try half half values16
try half-off half values16
try cbrt cbrt zeros
try kink kink zeros
try sqrt sqrt zeros
cp zeros.out.json kept.json
try cbrt-scaled cbrt zeros
try cbrt cbrt all-zeros
try cbrt cbrt all-zeros --grad-constants=1
mv kept.json zeros.out.json
