//===- cluster_barrier.cu - What racecheck follows of a cluster's barriers ===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two blocks of a cluster show each other what they have written to shared memory,
// ordered by mbarriers: an arrival at those of both blocks (mapa, release.cluster),
// a wait at one's own (acquire.cluster), as CUTLASS's ClusterBarrier.
//
//   cluster_barrier one   a thread arrives for its block, behind the block's barrier
//   cluster_barrier each  each thread arrives for itself
//
// In PTX's memory model both are free of races: a barrier of the block orders
// what its threads wrote before the arrival behind it. racecheck reports the first.
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <cstdio>
#include <cstring>

constexpr int kBlocks = 2, kThreads = 128, kRounds = 32;

__device__ uint32_t sharedAddress(const void *pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ void init(uint64_t &barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(
                   sharedAddress(&barrier)),
               "r"(count)
               : "memory");
}

__device__ void arrive(uint64_t &barrier, uint32_t rank) {
  asm volatile(
      "{\n\t.reg .b32 remote;\n\t"
      "mapa.shared::cluster.u32 remote, %0, %1;\n\t"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n\t}" ::
          "r"(sharedAddress(&barrier)),
      "r"(rank)
      : "memory");
}

__device__ void wait(uint64_t &barrier, uint32_t parity) {
  asm volatile("{\n\t.reg .pred done;\n\t"
               "again:\n\t"
               "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, "
               "[%0], %1;\n\t"
               "@!done bra again;\n\t}" ::"r"(sharedAddress(&barrier)),
               "r"(parity)
               : "memory");
}

__device__ float load(const float &value, uint32_t rank) {
  float loaded;
  asm volatile("{\n\t.reg .b32 remote;\n\t"
               "mapa.shared::cluster.u32 remote, %1, %2;\n\t"
               "ld.shared::cluster.f32 %0, [remote];\n\t}"
               : "=f"(loaded)
               : "r"(sharedAddress(&value)), "r"(rank)
               : "memory");
  return loaded;
}

__device__ void clusterBarrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\t"
               "barrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}

template <bool each>
__global__ void __cluster_dims__(kBlocks) exchange(float *sums) {
  __shared__ float data[kThreads];
  __shared__ uint64_t ready, free;
  uint32_t rank, thread = threadIdx.x;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (thread == 0) {
    init(ready, kBlocks * (each ? kThreads : 1));
    init(free, kBlocks * (each ? kThreads : 1));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  clusterBarrier();
  auto tell = [&](uint64_t &barrier) {
    if (each) {
      for (int block = 0; block < kBlocks; ++block)
        arrive(barrier, block);
      return;
    }
    __syncthreads();
    if (thread < kBlocks)
      arrive(barrier, thread);
  };
  float sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    wait(free, (round & 1) ^ 1);
    data[thread] = rank * kThreads + thread;
    tell(ready);
    wait(ready, round & 1);
    for (int block = 0; block < kBlocks; ++block)
      sum += load(data[kThreads - 1 - thread], block);
    tell(free);
  }
  sums[blockIdx.x * kThreads + thread] = sum;
  clusterBarrier();
}

int main(int argc, char **argv) {
  constexpr int count = kBlocks * kThreads;
  float *sums, host[count];
  if (argc != 2 || cudaMalloc(&sums, sizeof(host)))
    return 2;
  if (!strcmp(argv[1], "each"))
    exchange<true><<<kBlocks, kThreads>>>(sums);
  else
    exchange<false><<<kBlocks, kThreads>>>(sums);
  if (cudaMemcpy(host, sums, sizeof(host), cudaMemcpyDeviceToHost))
    return 2;
  for (int i = 0; i < count; ++i)
    if (host[i] !=
        kRounds * (kThreads + 2.0f * (kThreads - 1 - i % kThreads)))
      return 1;
  return 0;
}
