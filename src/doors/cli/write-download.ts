import { WaymarkError } from '../../errors/errors.ts'
import type { DownloadInput } from '../http/commands/directory-commands.ts'
import type { Output, Values } from './command.ts'
import { type Directory, recoveryOf, withDirectory } from './directory.ts'
import { writeOut, writeOutFile } from './out-file.ts'
import { downloadLine } from './progress.ts'

const untilDrawnMs = 1000

/** A whole download, with progress; an interrupted command leaves no file. */
export async function writeDownload(values: Values, input: DownloadInput, path: string, { out, err }: Output): Promise<void> {
  const stop = new AbortController()
  const interrupt = () => stop.abort()
  process.once('SIGINT', interrupt)
  process.once('SIGTERM', interrupt)
  const line = downloadLine(process.stderr)
  let bytes = 0
  const drawing = setInterval(() => line.show(bytes), untilDrawnMs)
  const onBytes = (count: number) => {
    bytes = count
    line.show(bytes)
  }
  const work = async (directory: Directory) => {
    const download = await directory.download(input, stop.signal)
    if (path === '-') await writeOut(process.stdout, download.bytes, onBytes)
    else await writeOutFile(path, download.bytes, onBytes)
    for (const { message } of download.warnings) err(`Warning: ${message}`)
  }
  try {
    await withDirectory(values, work, { recovery: recoveryOf(values), err })
    if (path !== '-') out(`Wrote ${path}: ${bytes.toLocaleString('en')} bytes.`)
  } catch (error) {
    if (!stop.signal.aborted) throw error
    throw new WaymarkError('command-failed', {
      message: `Interrupted. ${path === '-' ? 'The output is incomplete' : `${path} was not written`}.`,
    })
  } finally {
    clearInterval(drawing)
    process.off('SIGINT', interrupt)
    process.off('SIGTERM', interrupt)
    line.end()
  }
}
