import type { OpenOptions } from '../../../engine.ts'
import type { AttachedSource } from '../../../service/attached/options.ts'
import { type Values, wrongUsage } from '../command.ts'
import { millisecondsOf } from './durations.ts'

// Tables beside the events, as options: only who starts the server names folders and addresses.

export const attachOptions = {
  attach: {
    value: 'NAME=FROM',
    summary:
      'tables beside the events, as NAME.table in statements: FROM is a folder of Parquet, CSV and JSON files, s3://BUCKET/PREFIX or postgres://…; NAME@1,2=FROM: for the projects 1 and 2 only; may be repeated',
    isRepeatable: true,
  },
  'attach-properties': {
    value: 'NAME.TABLE.KEY=OWNER',
    summary:
      'the columns of an attached table as properties: OWNER is the type of groups that KEY names, or person.PROPERTY, which KEY equals; may be repeated',
    isRepeatable: true,
  },
} as const
export const attachEveryOption = {
  value: 'TIME',
  summary: 'how often attached buckets and databases are copied, such as 15m or 1d',
  default: '1h',
} as const

/** An address may have a password: no message repeats it. */
export function attachOf(values: Values): Pick<OpenOptions, 'attach' | 'attachEveryMinutes'> {
  const given = values.all('attach').map((text) => {
    const [, name, projects, from] = /^([^=@]+)(?:@([^=]*))?=(.+)$/s.exec(text) ?? []
    if (name === undefined || from === undefined) throw wrongUsage('--attach must be NAME=FROM, such as billing=./billing.')
    if (projects !== undefined && !/^[1-9]\d*(,[1-9]\d*)*$/.test(projects))
      throw wrongUsage(`--attach ${name}@… must name projects by their ids, such as ${name}@1,2=FROM.`)
    return { name, from, ...(projects !== undefined && { projects: projects.split(',').map(Number) }) }
  })
  const properties = values.all('attach-properties').map((text) => {
    const [, name, place, owner] = /^([^.=]+)\.([^=]+)=(.+)$/s.exec(text) ?? []
    if (!given.some((one) => one.name === name) || place === undefined || owner === undefined)
      throw wrongUsage(
        `--attach-properties must be NAME.TABLE.KEY=OWNER with a NAME of --attach, such as billing.plans.company=company, but got ${text}.`,
      )
    return { name, place, owner }
  })
  if (given.length === 0) return {}
  const twice = given.find(({ name }, i) => given.findIndex((one) => one.name === name) !== i)
  if (twice) throw wrongUsage(`--attach names ${twice.name} twice. Give each its own name.`)
  const every = values.text('attach-every')
  return {
    attach: Object.fromEntries(
      given.map(({ name, ...source }): [string, AttachedSource] => {
        const own = properties.filter((one) => one.name === name).map(({ place, owner }) => [place, owner])
        return [name, { ...source, ...(own.length > 0 && { properties: Object.fromEntries(own) }) }]
      }),
    ),
    ...(every !== undefined && { attachEveryMinutes: millisecondsOf('attach-every', every) / 60_000 }),
  }
}
