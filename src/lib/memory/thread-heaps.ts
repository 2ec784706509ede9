import { getHeapStatistics } from 'node:v8'

// Threads have JavaScript heaps of their own. The process's memory includes them, but `process.memoryUsage()` reports only the heap of the calling thread.

const heaps = new Set<Float64Array>()

/** Room for the size of a thread's heap, which the thread writes with `noteHeap`. */
export function addHeap(): Float64Array {
  const heap = new Float64Array(new SharedArrayBuffer(8))
  heaps.add(heap)
  return heap
}
export const removeHeap = (heap: Float64Array): void => void heaps.delete(heap)

export function noteHeap(heap: Float64Array): void {
  const { total_heap_size, external_memory } = getHeapStatistics()
  heap[0] = total_heap_size + external_memory
}

/** Bytes of all these heaps. */
export const threadHeapBytes = (): number => [...heaps].reduce((sum, [bytes = 0]) => sum + bytes, 0)
