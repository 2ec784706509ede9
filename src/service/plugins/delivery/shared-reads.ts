import type { EventRange, EventReader, StoredEvents } from './ports.ts'

/** Ranges that are kept, over all projects. Each has at most the characters of a step, or one event. */
const mostKept = 32

/** Configs of a project mostly want the same events at the same time: they are read once. */
export const sharedReads = () => {
  const kept = new Map<string, { readonly events: number; readonly found: Promise<StoredEvents> }>()
  return {
    of: (projectId: number, reader: EventReader): EventReader => ({
      at: (positions) => reader.at(positions),
      range(range: EventRange): Promise<StoredEvents> {
        const key = `${projectId}/${range.after}`
        const known = kept.get(key)
        if (known && known.events <= range.events) return known.found
        const found = reader.range(range)
        kept.delete(key)
        kept.set(key, { events: range.events, found })
        found.catch(() => kept.get(key)?.found === found && kept.delete(key))
        for (const oldest of kept.keys()) {
          if (kept.size <= mostKept) break
          kept.delete(oldest)
        }
        return found
      },
    }),
  }
}
export type SharedReads = ReturnType<typeof sharedReads>
