const msBetween = 1000

/** Says on standard error how far something is that takes longer than a second. */
export function progress(what: string, total: number): (done: number) => void {
  const begun = performance.now()
  let last = begun
  return (done) => {
    if (performance.now() - last < msBetween) return
    last = performance.now()
    console.error(`${what}: ${Math.floor((100 * done) / total)} % after ${Math.round((last - begun) / 1000)} s`)
  }
}
