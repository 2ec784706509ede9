/** Milliseconds that this process, with all its threads, works from now on. Other processes may have the cores meanwhile: that does not count. */
export function processorTime(): () => number {
  const start = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1000
  }
}
