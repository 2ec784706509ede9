import { WaymarkError } from '../errors/errors.ts'
import { type Command, type Values, wrongUsage } from './command.ts'
import { dataOption, withAccounts } from './directory.ts'

const amount = (values: Values, name: string): number | null => {
  const text = values.text(name)
  if (text === undefined) return null
  if (!/^[1-9]\d{0,8}$/.test(text)) throw wrongUsage(`--${name} is a number of events, not ${text}.`)
  return Number(text)
}

export const approveImports: Command = {
  name: 'imports approve',
  summary: 'Approves the import of past events into a project beyond the usual limits.',
  options: {
    data: dataOption,
    project: { value: 'ID', summary: 'the project' },
    total: { value: 'N', summary: 'events in all; unlimited when not given' },
    speed: { value: 'N', summary: 'events a minute; unlimited when not given' },
    revoke: { summary: 'take the approval back' },
  },
  run: async (values, { out }) => {
    const id = Number(values.required('project'))
    const [total, speed] = [amount(values, 'total'), amount(values, 'speed')]
    const isApproved = !values.isOn('revoke')
    await withAccounts(values.required('data'), async (accounts) => {
      const project = Number.isInteger(id) ? await accounts.projects.byId(id) : undefined
      if (!project) throw new WaymarkError('not-found', { what: 'project', id: String(id) })
      await accounts.historicalImports.update(null, project, {
        is_approved: isApproved,
        ...(isApproved && { total_events: total, events_per_minute: speed }),
      })
    })
    const bounds = [total !== null && `${total} events`, speed !== null && `${speed} events a minute`].filter(Boolean).join(', ')
    out(isApproved ? `Imports into project ${id} are approved: ${bounds || 'unlimited'}.` : `Imports into project ${id} are limited.`)
  },
}
