# Compiles each graph of folder $1 that must be refused to $2: the exit code and
# what is printed, a line each; "left" if $2 is there.
for graph in gather call branch shape erf constant; do
  text=$(coda-compile $1/$graph.mlir --target=sm_90a -o $2 2>&1)
  echo "$?: $text"
  if [ -e $2 ]; then echo left; fi
done
