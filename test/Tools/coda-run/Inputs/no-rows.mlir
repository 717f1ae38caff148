func.func @main(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %r = math.exp %x : tensor<?x16xf32>
  return %r : tensor<?x16xf32>
}
