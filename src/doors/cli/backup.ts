import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { WaymarkError } from '../../errors/errors.ts'
import { shownTime } from '../../lib/time/shown-time.ts'
import type { BackupSummary, RunProgress } from '../../service/backups/directory-backups.ts'
import { hasScheme } from '../../service/backups/places/open-place.ts'
import { type Command, type Output, type Values, wrongUsage } from './command.ts'
import { type Directory, directoryOptions, memoryOption, withDirectory } from './directory.ts'
import { millisecondsOf } from './options/durations.ts'
import { stepsLine } from './progress.ts'

export const keyFileOption = {
  value: 'FILE',
  summary: 'file with the key of encrypted copies, or WAYMARK_BACKUP_KEY; default: copies are not encrypted',
} as const

const askEveryMs = 200

export const backup: Command = {
  takes: 'TO',
  options: {
    ...directoryOptions,
    'key-file': keyFileOption,
    verify: { summary: 'restore the copy into a temporary folder, and compare its tables and the answers to twenty questions' },
    keep: { value: 'TIME', summary: 'remove copies that are older, such as 30d or 12h; default: all stay' },
    'take-over': { summary: 'the place has the backups of another directory, which is gone for good' },
    memory: memoryOption,
    json: { summary: 'print the summary as one line of JSON' },
  },
  run: async (values, output) => {
    const to = placeOf(values, 'backup takes one place: a folder, a file that ends with .tar, or s3://BUCKET/PREFIX.')
    const keep = values.text('keep')
    const input = {
      to,
      key: await keyOf(values),
      verify: values.isOn('verify'),
      keep_days: keep === undefined ? null : millisecondsOf('keep', keep) / 86_400_000,
      take_over: values.isOn('take-over'),
    }
    await withDirectory(
      values,
      async (directory) => {
        const { run } = await directory.do('backup', input)
        report((await followed(directory, run)) as BackupSummary, to, values, output)
      },
      { memoryLimit: values.text('memory'), err: output.err },
    )
  },
}

/** Shows the progress of long work, and returns its result. Ctrl-C stops the work. */
export async function followed(directory: Directory, run: number): Promise<unknown> {
  const line = stepsLine(process.stderr)
  const stop = () => void directory.do('run-stop', { run }).catch(() => undefined)
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  try {
    for (;;) {
      const { progress, result } = await directory.do('run-state', { run })
      if (progress) line.show(stepText(progress))
      if (result) return result
      await setTimeout(askEveryMs)
    }
  } finally {
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
    line.end()
  }
}

/** Of the address of a bucket. */
const withoutQuery = (place: string): string => (place.startsWith('s3://') ? place.split('?')[0]! : place)

export function placeOf({ rest }: Values, usage: string): string {
  const [place] = rest
  if (place === undefined || rest.length > 1) throw wrongUsage(usage)
  return hasScheme(place) ? place : resolve(place)
}

/** Null: copies are not encrypted. */
export async function keyOf(values: Values): Promise<string | null> {
  const path = values.text('key-file')
  if (path === undefined) return values.env.WAYMARK_BACKUP_KEY || null
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new WaymarkError('command-failed', { message: `The key cannot be read: ${cause.message}` }, { cause })
  })
  if (text.trim() === '') throw new WaymarkError('command-failed', { message: `${path} has no key: it is empty.` })
  return text.trim()
}

const phases: Readonly<Record<RunProgress['phase'], string>> = {
  reading: 'Reading',
  writing: 'Writing',
  verifying: 'Verifying',
  compacting: 'Compacting',
}

export const stepText = ({ phase, project, bytes, ofBytes }: RunProgress): string =>
  `${phases[phase]}${project === undefined ? '' : ` project ${project}`}: ${sizeText(bytes)}${ofBytes === null ? '' : ` of ${sizeText(ofBytes)}`}`

export const sizeText = (bytes: number): string =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`

const number = (value: number) => value.toLocaleString('en')
/** Of how many projects. */
export const projectsText = (count: number): string => (count === 1 ? '1 project' : `${count} projects`)

function report(summary: BackupSummary, to: string, values: Values, { out, err }: Output): void {
  for (const { id, name, problem } of summary.projects)
    if (problem) err(`waymark: project ${id} (${name}) could not be opened, and its files were copied as they were: ${problem}`)
  if (values.isOn('json')) {
    out(JSON.stringify(summary))
    return
  }
  out(`Copy ${String(summary.copy).padEnd(12)} ${withoutQuery(to)}`)
  out(
    `Has              everything acknowledged before ${shownTime(summary.began_at)}: ${projectsText(summary.projects.length)}, ${sizeText(summary.bytes)}`,
  )
  out(`New              ${sizeText(summary.added)}, written as ${sizeText(summary.stored)}`)
  if (summary.removed > 0) out(`Removed          ${summary.removed} older copies`)
  const { verified } = summary
  if (verified)
    out(
      `Verified         ${number(verified.events)} events and ${number(verified.persons)} persons of ${projectsText(verified.projects)}: restored, and equal in ${verified.compared} tables and questions`,
    )
}
