import { randomUUID } from 'node:crypto'
import { open, readFile, rename } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { directoryIdentity, isOtherDirectory } from '../../engine/storage/locks/directory-identity.ts'
import { WaymarkError } from '../../errors/errors.ts'
import { refusedBy, syncFolder } from './places/folder.ts'
import type { State, Writer } from './repository/repository.ts'

// Who a directory is as a writer of backups, and what it wrote last in each place. The file is in no backup, and means nothing in a copy of the directory: two
// directories with the same past must not write into the same place.

export const notesName = 'backups.json'

interface Notes {
  readonly writer: string
  readonly directory: { readonly path: string; readonly device: string; readonly inode: string }
  /** By place: the number of the state that was written last, and the nonce of the one that was about to be written. */
  readonly places: Readonly<Record<string, { readonly number: number; readonly nonce: string | null }>>
}

export interface WriterNotes {
  readonly writer: Writer
  /** Throws if somebody else has written into the place since. */
  mustBeOurs(place: string, shown: string, state: State | null): void
  /** Before a state is written. */
  intend(place: string, before: number, nonce: string): Promise<void>
  wrote(place: string, number: number): Promise<void>
}

export async function openNotes(dataDir: string): Promise<WriterNotes> {
  const path = join(dataDir, notesName)
  const directory = await directoryIdentity(dataDir)
  let notes = await read(path)
  if (!notes || isOtherDirectory(notes.directory, directory)) notes = { writer: randomUUID(), directory, places: {} }
  const write = async (place: string, last: Notes['places'][string]) => {
    notes = { ...notes!, places: { ...notes!.places, [place]: last } }
    await replace(path, JSON.stringify(notes)).catch(refusedBy(dataDir))
  }
  return {
    writer: { id: notes.writer, name: `${directory.path} on ${hostname()}` },
    mustBeOurs(place, shown, state) {
      if (state === null) return
      const last = notes!.places[place]
      const isKnown =
        last !== undefined && (last.number === state.number || (last.nonce === state.nonce && last.number + 1 === state.number))
      if (state.writer.id === notes!.writer && isKnown) return
      const since = state.written_at.slice(0, 16).replace('T', ' ')
      const message =
        `${shown} has the backups of ${state.writer.name}, which wrote there last on ${since} UTC. Two directories must not share a place: give this one another, ` +
        'or, if the other one is gone for good, take the place over with --take-over.'
      throw new WaymarkError('command-failed', { message })
    },
    intend: (place, before, nonce) => write(place, { number: before, nonce }),
    wrote: (place, number) => write(place, { number, nonce: null }),
  }
}

async function read(path: string): Promise<Notes | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Notes
  } catch {
    return null // none, or one that a crash left half written: the place is taken over by hand then
  }
}

async function replace(path: string, text: string): Promise<void> {
  const file = await open(`${path}.new`, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(`${path}.new`, path)
  await syncFolder(dirname(path)) // with older notes the place would count as that of another directory
}
