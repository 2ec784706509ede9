// What was just removed and can be brought back. One at a time: the last one.

export interface Removal {
  /** `Signups deleted.` */
  readonly text: string
  undo(): Promise<unknown>
}

let latest: Removal | null = null
const listeners = new Set<() => void>()

export const latestRemoval = (): Removal | null => latest

export function offerUndo(removal: Removal | null): void {
  latest = removal
  for (const listen of listeners) listen()
}

export function onRemoval(listen: () => void): () => void {
  listeners.add(listen)
  return () => listeners.delete(listen)
}
