import { type Command, wrongUsage } from './command.ts'
import { directoryOptions, projectId, projectOption, recoveryOption } from './directory.ts'
import { writeDownload } from './write-download.ts'

export const exportPerson: Command = {
  takes: 'ID',
  options: {
    ...directoryOptions,
    project: projectOption,
    recovery: recoveryOption,
    out: { value: 'FILE', summary: 'the file to write; - for the output', default: '-' },
  },
  run: async (values, output) => {
    const [person, ...more] = values.rest
    if (!person || more.length > 0) throw wrongUsage('persons export expects one uuid or distinct id, in quotes if it has spaces.')
    await writeDownload(values, { project: projectId(values), person }, values.required('out'), output)
  },
}
