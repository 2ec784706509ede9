import { open } from '../../engine.ts'
import type { FirstStart } from '../../service/accounts/accounts.ts'
import type { Command, Values } from './command.ts'
import { directoryOptions, pluginsOfCommand } from './directory.ts'
import { engineOf } from './options/clickhouse-option.ts'

/** What a fresh installation prints: the personal key is shown only once. */
export const shown = (start: FirstStart) => ({
  organization_id: start.organization.id,
  project_id: start.project.id,
  project_api_key: start.project.api_token,
  ...(start.personalKey === null ? {} : { personal_api_key: start.personalKey }),
})

export const bootstrapKeys = ({ env }: Values) => ({
  projectKey: env.WAYMARK_BOOTSTRAP_PROJECT_API_KEY || undefined,
  personalKey: env.WAYMARK_BOOTSTRAP_PERSONAL_API_KEY || undefined,
})

export const init: Command = {
  options: { ...directoryOptions, json: { summary: 'print one line of JSON' } },
  run: async (values, { out }) => {
    const engine = engineOf(values)
    const waymark = await open({
      ...(engine?.postgres === undefined ? { dataDir: values.required('data') } : {}),
      engine,
      exports: { runs: false },
      plugins: pluginsOfCommand(values),
    })
    const start = await waymark.accounts.firstStart(bootstrapKeys(values)).finally(() => waymark.close())
    const facts = shown(start)
    if (values.isOn('json')) return out(JSON.stringify(facts))
    out(`Organization     ${facts.organization_id}`)
    out(`Project          ${facts.project_id}`)
    out(`Project key      ${facts.project_api_key}`)
    out(start.personalKey === null ? 'Personal key     created earlier' : `Personal key     ${start.personalKey}   (shown this once)`)
  },
}
