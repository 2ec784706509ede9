const minute = 60_000

/** Asked for everything that might be told: null when something was told less than a minute ago, else how many were passed over since. */
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
