import { tornPart } from './block-notes.ts'
import { BrokenFileError } from './instance.ts'

/** Throws a BrokenFileError if a file was copied, with its directory, while it changed. */
export async function mustBeWhole(file: string): Promise<void> {
  const part = await tornPart(file)
  if (part === null) return
  const reason = `it was copied while a process wrote to it, and is torn: ${part}. Take copies with \`waymark backup\`, or with a snapshot of the file system`
  throw new BrokenFileError(file, new Error(reason))
}
