import { open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { TransformedRecords, TransformFile } from '../../../events/ingestion/transforming/ports.ts'
import { firstLine, mustBeKnownJson } from './file-formats.ts'

// What became of records that may have been transformed before the process started: a line of JSON for the beginning of a batch, and one for its result. The
// file exists only between a crash and the moment when the store has these records.

type Line = { readonly begin: number; readonly count: number } | { readonly result: number; readonly payloads: readonly string[] }

/** Above this size, what the store has is removed before the rest is applied. */
const rewrittenBytes = 64 * 1024 ** 2

const lastOf = (line: Line): number => ('begin' in line ? line.begin + line.count - 1 : line.result + line.payloads.length - 1)

const lineFrom = (text: string): Line[] => {
  try {
    return [JSON.parse(text) as Line]
  } catch {
    return [] // the process ended while it was written
  }
}
const linesOf = async (path: string): Promise<Line[]> => {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  mustBeKnownJson(path, firstLine(text))
  return text.split('\n').flatMap((line) => (line === '' ? [] : lineFrom(line)))
}

export async function openTransformFile(path: string): Promise<TransformFile> {
  const found = await linesOf(path)
  let isOurs = false
  let bytes = 0
  let lastSeq = Math.max(0, ...found.map(lastOf))
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = turn.then(work, work)
    turn = next.catch(() => undefined)
    return next
  }
  const syncFolder = async () => {
    const folder = await open(dirname(path), 'r')
    await folder.sync()
    await folder.close()
  }
  /** Opened for each use: the file is needed only after a crash. */
  const write = async (to: string, flags: 'w' | 'a', text: string) => {
    const handle = await open(to, flags, 0o600)
    try {
      await handle.appendFile(text)
      await handle.sync()
      bytes = (await handle.stat()).size
    } finally {
      await handle.close()
    }
  }
  const textOf = (lines: readonly Line[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  const rewrite = async (lines: readonly Line[]) => {
    await write(`${path}.new`, 'w', textOf(lines))
    await rename(`${path}.new`, path)
    await syncFolder()
  }
  const append = (lines: readonly Line[]) =>
    inTurn(async () => {
      // The first line of this process: a line that an earlier one did not finish must not be continued.
      if (!isOurs) await rewrite(found)
      isOurs = true
      await write(path, 'a', textOf(lines))
      lastSeq = Math.max(lastSeq, ...lines.map(lastOf))
    })
  const begun = found.flatMap((line) => ('begin' in line ? [{ firstSeq: line.begin, count: line.count }] : []))
  const results = found.flatMap((line): TransformedRecords[] =>
    'result' in line ? [{ firstSeq: line.result, payloads: line.payloads }] : [],
  )
  return {
    begun,
    results,
    begin: (ranges) => append(ranges.map(({ firstSeq, count }) => ({ begin: firstSeq, count }))),
    write: (all) => append(all.map(({ firstSeq, payloads }) => ({ result: firstSeq, payloads }))),
    forget: (seq) =>
      lastSeq === 0 || (seq < lastSeq && bytes < rewrittenBytes)
        ? Promise.resolve()
        : inTurn(async () => {
            if (seq < lastSeq) return rewrite((await linesOf(path)).filter((line) => lastOf(line) > seq))
            lastSeq = 0
            isOurs = false
            for (const list of [found, begun, results]) list.length = 0
            await rm(path, { force: true })
          }),
  }
}
