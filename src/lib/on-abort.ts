const callbacksOf = new WeakMap<AbortSignal, Set<() => void>>()

/** For signals with very many listeners: `addEventListener` searches all listeners for each new one. Returns a function that removes the listener. */
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
