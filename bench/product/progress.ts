const msBetween = 1000

/** Says on standard error how far something is that takes longer than a second. */
export function progress(what: string, total: number): (done: number) => void {
  let last = performance.now()
  return (done) => {
    if (performance.now() - last < msBetween) return
    last = performance.now()
    console.error(`${what}: ${Math.floor((100 * done) / total)} %`)
  }
}
