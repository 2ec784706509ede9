import { WaymarkError } from '../../errors/errors.ts'
import type { Approval } from '../http/commands/directory-commands.ts'
import { callServer } from './call-server.ts'
import { type Command, type Values, wrongUsage } from './command.ts'
import { directoryOptions, projectId, projectOption, withDirectory } from './directory.ts'

const amount = (values: Values, name: string): number | null => {
  const text = values.text(name)
  if (text === undefined) return null
  if (!/^[1-9]\d{0,8}$/.test(text)) throw wrongUsage(`--${name} must be a number of events, but got ${text}.`)
  return Number(text)
}

export const approveImports: Command = {
  options: {
    ...directoryOptions,
    project: projectOption,
    total: { value: 'N', summary: 'limit of events in total (default: unlimited)' },
    speed: { value: 'N', summary: 'limit of events per minute (default: unlimited)' },
    revoke: { summary: 'withdraw the approval' },
    url: { value: 'URL', summary: 'send the request to this server instead of opening a directory; needs --key' },
    key: { value: 'KEY', summary: 'the personal key of an admin of the project, with --url' },
  },
  run: async (values, { out }) => {
    const project = projectId(values)
    const limits = { total_events: amount(values, 'total'), events_per_minute: amount(values, 'speed') }
    const approval: Approval = { project, is_approved: !values.isOn('revoke'), ...limits }
    const url = values.text('url')
    if (url === undefined) await withDirectory(values, (directory) => directory.do('approve-imports', approval))
    else await overHttp(url, values.required('key'), approval)
    if (!approval.is_approved) return out(`Imports into project ${project} are limited.`)
    const [total, speed] = [limits.total_events, limits.events_per_minute]
    const bounds = [total !== null && `${total} events`, speed !== null && `${speed} events a minute`].filter(Boolean).join(', ')
    out(`Imports into project ${project} are approved: ${bounds || 'unlimited'}.`)
  },
}

async function overHttp(url: string, key: string, { project, is_approved, ...limits }: Approval): Promise<void> {
  const path = `/api/projects/${project}/historical_import/`
  const answer = await callServer(url, path, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ is_approved, ...(is_approved && limits) }),
  })
  if (answer.ok) return
  const { detail } = (await answer.json().catch(() => ({}))) as { detail?: string }
  throw new WaymarkError('command-failed', { message: `${url} refused the approval (${answer.status}): ${detail ?? answer.statusText}` })
}
