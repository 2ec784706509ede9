import { type Command, wrongUsage } from './command.ts'
import { directoryOptions, projectId, projectOption, withDirectory } from './directory.ts'

export const limitProject: Command = {
  options: {
    ...directoryOptions,
    project: projectOption,
    'events-per-day': { value: 'N', summary: '0: no limit; default: the limit of the server' },
  },
  run: async (values, { out }) => {
    const text = values.text('events-per-day')
    if (text !== undefined && !/^\d{1,9}$/.test(text)) throw wrongUsage(`--events-per-day must be a number of events, but got ${text}.`)
    const [project, limit] = [projectId(values), text === undefined ? null : Number(text)]
    await withDirectory(values, (directory) => directory.do('limit-project', { project, events_per_day: limit }))
    const told =
      limit === null
        ? 'as many events a day as the server allows each project'
        : limit === 0
          ? 'events without a limit'
          : `${limit} events a day`
    out(`Project ${project} accepts ${told}.`)
  },
}
