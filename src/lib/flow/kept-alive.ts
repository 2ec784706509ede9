/** The longest interval of a timer. */
const everyMs = 2 ** 31 - 1

/** Keeps the process alive until the promise settles. For waits that nothing of Node knows about, such as for a message over a channel without a reference. */
export async function keptAlive<T>(wait: Promise<T>): Promise<T> {
  const timer = setInterval(() => undefined, everyMs)
  try {
    return await wait
  } finally {
    clearInterval(timer)
  }
}
