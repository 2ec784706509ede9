interface Listening {
  readonly calls: Set<() => void>
  readonly listener: () => void
}
const listeningOf = new WeakMap<AbortSignal, Listening>()

function listen(signal: AbortSignal): Listening {
  const calls = new Set<() => void>()
  const listener = () => {
    for (const call of calls) call()
  }
  const listening = { calls, listener }
  listeningOf.set(signal, listening)
  signal.addEventListener('abort', listener, { once: true })
  return listening
}

/**
 * For signals with very many listeners: `addEventListener` searches all listeners for each new one. Returns a function that removes the listener. With the last
 * one nothing is left at the signal: Node keeps a signal of several, and what its listeners hold, for as long as it has one.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const listening = listeningOf.get(signal) ?? listen(signal)
  listening.calls.add(callback)
  return () => {
    listening.calls.delete(callback)
    if (listening.calls.size > 0 || listeningOf.get(signal) !== listening) return
    listeningOf.delete(signal)
    signal.removeEventListener('abort', listening.listener)
  }
}
