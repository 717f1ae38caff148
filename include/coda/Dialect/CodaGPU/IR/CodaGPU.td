//===- CodaGPU.td - The schedule of a kernel ---------------*- tablegen -*-===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CODA_DIALECT_CODAGPU_IR_CODAGPU
#define CODA_DIALECT_CODAGPU_IR_CODAGPU

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def CodaGPU_Dialect : Dialect {
  let name = "coda_gpu";
  let cppNamespace = "::mlir::coda_gpu";
  let summary = "How a kernel is laid out on a GPU";
  let description = [{
    Holds what `coda-select-schedule` decides about a kernel and what
    `coda-to-nvgpu` obeys. Nothing else chooses.
  }];
  let useDefaultAttributePrinterParser = 1;
}

def CodaGPU_ScheduleAttr
    : AttrDef<CodaGPU_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "tile, pipeline depth and order of tiles of one kernel";
  let description = [{
    A persistent, warp-specialised kernel: one producer warpgroup issues every
    TMA load into a ring of shared-memory stages; two consumer warpgroups
    multiply, run the region and store. They share a tile, or, with
    `pingpong`, each has every second tile of its block and runs the region of
    one under the products of the other's next.

    - `tile`: rows (a multiple of 64 for each warpgroup that has a part of it),
      accumulator columns (those of all accumulators and u points together),
      and depth of one k block.
    - `stages`: depth of the ring.
    - `staging`: buffers per consumer warpgroup that stored chunks of 64 rows and
      64 columns (`chunk`) pass through on their way out, 8 KB each.
    - `prefetch`: such chunks whose loaded tiles are on their way to, or in,
      each consumer warpgroup's own buffers.
    - `ring`: loaded tiles come through the ring instead, after the k blocks of
      their tile. Not with `pingpong`. Without either a thread loads what it
      needs of a tile when it needs it.
    - `inplace`: a stored tile is written over a loaded one of the same element
      width, box by box, and leaves from there; others pass through `staging`.
    - `ordered`: with `pingpong`, the regions of a block's tiles follow each other
      and take one set of buffers, `prefetch` and `staging` in all.
    - `swap`: the right factor's columns are the rows of a fragment and the left
      factor's rows, a multiple of 8 up to 64, its columns: for few rows, of which
      a fragment of 64 would be mostly empty. `tile` has the rows and columns of
      the result all the same, the latter 64 for each fragment. With `pingpong`
      only. Tiles are stored through `staging`, or, if that is 0, by each thread.
      Split along k, the blocks of a cluster have rows of the region, not columns.
      False if left out.
    - `chunk`: columns of a chunk, 64, 32 or 16. The smaller take half the memory
      of each buffer, or a quarter, so that more of them, or more stages, fit; the
      columns of each accumulator in a tile are a multiple. 8 where, and only where,
      a row of the inner of several n dims is no multiple of 16: each thread loads
      and stores its part of a tile. 64 if left out.
    - `raster`: row tiles that share a walk over the columns, for L2 reuse.
    - `pingpong`: see above; false if left out.
    - `cluster`: blocks along m and n that have neighbouring tiles. Each loads a
      part of what they share, the right factor's columns along m and the left
      factor's rows along n, for all of them. Not with `split`. [1, 1] if left
      out.
    - `split`: blocks of a cluster that have a slice of k each of every tile;
      their accumulators are added in the slices' order, through distributed
      shared memory, and the columns of the region dealt to the blocks. Not
      with `ring`. 1 if left out.

    Examples: `#coda_gpu.schedule<tile = [128, 256, 64], stages = 3,
    staging = 4, prefetch = 0, raster = 8, ring = true>`,
    `#coda_gpu.schedule<tile = [128, 128, 64], stages = 4, staging = 4,
    prefetch = 2, raster = 8, pingpong = true>`,
    `#coda_gpu.schedule<tile = [64, 128, 64], stages = 8, staging = 2,
    prefetch = 0, raster = 8, pingpong = true, split = 4>`,
    `#coda_gpu.schedule<tile = [16, 64, 64], stages = 16, staging = 1,
    prefetch = 0, raster = 8, pingpong = true, swap = true>`,
    `#coda_gpu.schedule<tile = [128, 256, 64], stages = 4, staging = 2,
    prefetch = 0, raster = 8, cluster = [2, 1]>`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$tile, "int64_t":$stages,
                        "int64_t":$staging, "int64_t":$raster,
                        "int64_t":$prefetch,
                        OptionalParameter<"bool">:$pingpong,
                        OptionalParameter<"bool">:$ring,
                        OptionalParameter<"bool">:$inplace,
                        OptionalParameter<"bool">:$ordered,
                        OptionalParameter<"bool">:$swap,
                        DefaultValuedParameter<"int64_t", "1">:$split,
                        DefaultValuedParameter<"int64_t", "64">:$chunk,
                        DefaultValuedParameter<"ClusterShape", "ClusterShape()">
                            :$cluster);
  let assemblyFormat = [{
    `<` `tile` `=` `[` $tile `]` `,`
    struct($stages, $staging, $prefetch, $raster, $pingpong, $ring, $inplace,
           $ordered, $swap, $split, $chunk, $cluster) `>`
  }];
  let extraClassDeclaration = [{
    /// This schedule with another depth of the ring, and other buffers of stored
    /// and of loaded chunks.
    ScheduleAttr withBuffers(int64_t stages, int64_t staging,
                             int64_t prefetch) const;
    /// This schedule with chunks of so many columns.
    ScheduleAttr withChunk(int64_t chunk) const;
    /// This schedule with another cluster.
    ScheduleAttr withCluster(ClusterShape cluster) const;
  }];
}

#endif // CODA_DIALECT_CODAGPU_IR_CODAGPU
