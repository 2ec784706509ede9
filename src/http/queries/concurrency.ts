import { failures } from '../errors.ts'

/** How many queries of one project run at once when keys ask; people who are logged in are not counted. */
export const defaultConcurrency = 3

export const createConcurrency = (most: () => number) => {
  const running = new Map<number, number>()
  return {
    /** Takes a place or refuses; what is answered gives it back, once. */
    take(projectId: number): () => void {
      const now = running.get(projectId) ?? 0
      if (now >= most()) throw failures.tooManyQueries(most())
      running.set(projectId, now + 1)
      let isGiven = false
      return () => {
        if (isGiven) return
        isGiven = true
        const left = (running.get(projectId) ?? 1) - 1
        if (left > 0) running.set(projectId, left)
        else running.delete(projectId)
      }
    },
  }
}
export type Concurrency = ReturnType<typeof createConcurrency>
