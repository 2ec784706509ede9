import { resolve } from 'node:path'
import { WaymarkError } from '../../errors/errors.ts'
import { shownFrom, shownTime } from '../../lib/time/shown-time.ts'
import { copiesIn, restore } from '../../service/backups/backups.ts'
import type { ProjectRestoreSummary } from '../../service/backups/directory-backups.ts'
import { followed, keyFileOption, keyOf, placeOf, projectsText, sizeText, stepText } from './backup.ts'
import { type Command, type Output, type Values, wrongUsage } from './command.ts'
import { type Directory, dataOption, projectId, withDirectory } from './directory.ts'
import { clickhouseOption } from './options/clickhouse-option.ts'
import { stepsLine } from './progress.ts'
import { runningServer } from './running-server.ts'

export const restoreDirectory: Command = {
  takes: 'FROM',
  options: {
    data: { ...dataOption, summary: 'the data directory that is made: it must not exist, or be empty' },
    clickhouse: clickhouseOption,
    'key-file': keyFileOption,
    list: { summary: 'list the copies, and restore nothing' },
    copy: { value: 'N', summary: 'the number of a copy; default: the newest' },
    at: { value: 'TIME', summary: 'a moment, such as 2026-05-14T09:30:00Z: events and persons as they were then' },
    project: {
      value: 'ID',
      summary: 'restore only this project, as a new one of the directory that --data names; its server goes on meanwhile',
    },
    name: { value: 'NAME', summary: 'with --project: the name of the new project' },
    json: { summary: 'print the result as JSON' },
  },
  run: async (values, output) => {
    const from = placeOf(values, 'restore takes one place: the folder, tar file or s3://BUCKET/PREFIX of a backup.')
    const key = await keyOf(values)
    if (values.isOn('list')) return listCopies(from, key, values, output)
    if (values.text('project') !== undefined) return restoreProject(from, key, values, output)
    const dataDir = resolve(values.required('data'))
    const server = await runningServer(dataDir)
    if (server)
      throw new WaymarkError('command-failed', {
        message: `${dataDir} is in use by the server at ${server.url}. Restore into a new directory.`,
      })
    const at = momentOf(values.text('at'))
    const copy = copyOf(values.text('copy'))
    const line = stepsLine(process.stderr)
    const stop = new AbortController()
    const interrupt = () => stop.abort(new WaymarkError('command-failed', { message: `Stopped. ${dataDir} was not made.` }))
    process.once('SIGINT', interrupt)
    process.once('SIGTERM', interrupt)
    try {
      const restored = await restore(from, dataDir, {
        key,
        ...(at ? { at } : {}),
        ...(copy === undefined ? {} : { copy }),
        signal: stop.signal,
        onProgress: (progress) => line.show(stepText(progress)),
      })
      line.end()
      const { copy: made, bytes, projects } = restored
      if (values.isOn('json'))
        return output.out(JSON.stringify({ data: dataDir, copy: made.number, at: at?.toISOString() ?? made.at, bytes, projects }))
      output.out(`Restored         ${dataDir}, ${sizeText(bytes)}, ${projectsText(projects.length)}`)
      output.out(`Accounts         as of ${shownTime(made.began_at)} (copy ${made.number})`)
      output.out(
        `Events           ${at ? `that had arrived by ${shownTime(at.toISOString())}` : `acknowledged before ${shownTime(made.began_at)}`}`,
      )
      output.out(`Next             waymark doctor --data ${dataDir}, then waymark serve --data ${dataDir}`)
    } finally {
      process.off('SIGINT', interrupt)
      process.off('SIGTERM', interrupt)
    }
  },
}

async function restoreProject(from: string, key: string | null, values: Values, output: Output): Promise<void> {
  const at = momentOf(values.text('at'))?.toISOString() ?? null
  const input = { from, key, project: projectId(values), name: values.text('name') ?? null, copy: copyOf(values.text('copy')) ?? null, at }
  const work = async (directory: Directory) => {
    const { run } = await directory.do('restore-project', input)
    const summary = (await followed(directory, run)) as ProjectRestoreSummary
    if (values.isOn('json')) output.out(JSON.stringify(summary))
    else
      output.out(
        `Project ${String(summary.project_id).padEnd(9)}${summary.name}, with the records up to ${summary.position ?? 'the end of its log'} (copy ${summary.copy})`,
      )
  }
  await withDirectory(values, work, { err: output.err })
}

async function listCopies(from: string, key: string | null, values: Values, { out }: Output): Promise<void> {
  const copies = await copiesIn(from, { key })
  if (values.isOn('json'))
    return out(
      JSON.stringify(
        copies.map(({ number, began_at, at, bytes, stored, projects }) => ({
          copy: number,
          began_at,
          at,
          bytes,
          stored,
          projects: projects.length,
        })),
      ),
    )
  if (copies.length === 0) return out('No copies.')
  for (const { number, began_at, bytes, stored, projects } of copies)
    out(
      `${String(number).padStart(6)}  ${shownTime(began_at)}  ${sizeText(bytes).padStart(9)}  ${sizeText(stored).padStart(9)} new  ${projectsText(projects.length)}`,
    )
  if (copies.length > 1)
    out(
      `Each of them can be restored (--copy N), and each moment from ${shownFrom(copies[0]!.at)} to ${shownTime(copies.at(-1)!.began_at)} (--at TIME).`,
    )
}

function momentOf(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const at = new Date(text)
  // Without a zone a time would mean that of this machine.
  if (Number.isNaN(at.getTime()) || !/(?:Z|[+-]\d\d:?\d\d)$/.test(text))
    throw wrongUsage(`--at must be a time with its zone, such as 2026-05-14T09:30:00Z or 2026-05-14T11:30:00+02:00, but got ${text}.`)
  return at
}

function copyOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,8}$/.test(text)) throw wrongUsage(`--copy must be the number of a copy, but got ${text}. \`--list\` lists them.`)
  return Number(text)
}
