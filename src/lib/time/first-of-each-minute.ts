const minute = 60_000

/** Call it for every message: null if one was logged less than a minute ago, else the number suppressed since. */
export function firstOfEachMinute(clock: () => Date): () => number | null {
  let last = Number.NEGATIVE_INFINITY
  let passedOver = 0
  return () => {
    const now = clock().getTime()
    if (now - last < minute && now >= last) {
      passedOver++
      return null
    }
    const since = passedOver
    last = now
    passedOver = 0
    return since
  }
}
