import { WaymarkError } from '../../errors/errors.ts'
import type { CompactedProject, CompactSummary } from '../../service/directory/compact-projects.ts'
import { followed, sizeText } from './backup.ts'
import type { Command, Output, Values } from './command.ts'
import { directoryOptions, memoryOption, projectId, projectOption, withDirectory } from './directory.ts'

export const compact: Command = {
  options: {
    ...directoryOptions,
    project: { ...projectOption, summary: 'ID of the project; default: all' },
    force: { summary: 'also stores that would give back less than a tenth of their size' },
    memory: memoryOption,
    json: { summary: 'print the summary as one line of JSON' },
  },
  run: async (values, output) => {
    const project = values.text('project') === undefined ? null : projectId(values)
    await withDirectory(
      values,
      async (directory) => {
        const { run } = await directory.do('compact', { project, force: values.isOn('force') })
        report((await followed(directory, run)) as CompactSummary, values, output)
      },
      { memoryLimit: values.text('memory'), err: output.err },
    )
  },
}

const secondsText = (seconds: number) => `${seconds.toFixed(1)} s`

function textOf({ outcome, bytes_before, bytes_after, given_back, seconds, reason }: CompactedProject): string {
  if (outcome === 'failed') return `${sizeText(bytes_before)}, as it was: ${reason}`
  if (outcome === 'skipped')
    return `${sizeText(bytes_before)}, skipped: it would give back less than a tenth (--force compacts it all the same)`
  return `${sizeText(bytes_before)} before, ${sizeText(bytes_after)} after, ${givenBack(given_back)} in ${secondsText(seconds)}`
}

const givenBack = (bytes: number): string => (bytes < 0 ? `${sizeText(-bytes)} more` : `${sizeText(bytes)} given back`)

function report(summary: CompactSummary, values: Values, { out }: Output): void {
  if (values.isOn('json')) out(JSON.stringify(summary))
  else {
    for (const project of summary.projects) out(`Project ${String(project.id).padEnd(8)} ${project.name}: ${textOf(project)}`)
    const { bytes_before, bytes_after, given_back, seconds } = summary
    out(
      `Total            ${sizeText(bytes_before)} before, ${sizeText(bytes_after)} after, ${givenBack(given_back)} in ${secondsText(seconds)}`,
    )
  }
  const failures = summary.projects.filter(({ outcome }) => outcome === 'failed').length
  if (failures > 0)
    throw new WaymarkError('command-failed', { message: `${failures} ${failures === 1 ? 'project was' : 'projects were'} not compacted.` })
}
