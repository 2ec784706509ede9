const callbacksOf = new WeakMap<AbortSignal, Set<() => void>>()

/** As `addEventListener` of a signal that very many wait for: that looks through all of its listeners for each new one. Returns how to leave. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  let callbacks = callbacksOf.get(signal)
  if (!callbacks) {
    const added = new Set<() => void>()
    callbacks = added
    callbacksOf.set(signal, added)
    signal.addEventListener(
      'abort',
      () => {
        for (const call of added) call()
      },
      { once: true },
    )
  }
  callbacks.add(callback)
  return () => void callbacks.delete(callback)
}
