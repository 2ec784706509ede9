import type { Values } from '../list-column.ts'

// Persons who have events in a page, and further ones in memory.

/** Events of a person: entries from the first one up to another. */
export interface Entries {
  readonly time: Float64Array
  readonly first: number
  readonly end: number
}

/**
 * Writes where all events of a person are, in order of time: the entries of the page as they are, those in memory as `~entry`. Of equal times those of the page
 * come first: they arrived earlier. Returns the place behind the last one.
 */
export function joinEntries(page: Entries, memory: Entries, into: Int32Array, at: number): number {
  let next = at
  let i = page.first
  for (let j = memory.first; j < memory.end; j++) {
    const time = memory.time[j]!
    while (i < page.end && page.time[i]! <= time) into[next++] = i++
    into[next++] = ~j
  }
  while (i < page.end) into[next++] = i++
  return next
}

/** Copies the values of such entries. */
export function copyJoined(
  entries: Int32Array,
  page: Values | Uint32Array,
  memory: Values | Uint32Array,
  into: Values | Uint32Array,
  at: number,
): void {
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i]!
    into[at + i] = entry >= 0 ? page[entry]! : memory[~entry]!
  }
}
