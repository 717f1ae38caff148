#!/bin/sh
# coda-compile, that takes $REFERENCE instead of the input for --reference.
input=$1
for argument; do
  case $argument in
  --reference | --reference-f64) input=$REFERENCE ;;
  esac
done
shift
exec coda-compile "$input" "$@"
