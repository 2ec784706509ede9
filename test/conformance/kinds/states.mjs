import { fits, show } from '../matchers.mjs'

// Effects outside the response, as far as they can be seen. A check answers its problems; null: this cannot be seen.

const same = (want, got) => (fits(want, got) ? [] : [`want ${show(want)}, got ${show(got)}`])
const iso = (value) => (value instanceof Date ? value.toISOString().replace('.000Z', 'Z') : value)

const counts = {
  organization_count: ({ store }) => store.read.organizations.count({}),
  project_count: ({ store, org }) => store.read.projects.count({ organization_id: org }),
  team_count: ({ store, org }) => store.read.projects.count({ organization_id: org }),
  invite_count: ({ store, org }) => store.read.invites.count({ organization_id: org }),
  domain_count: ({ store, org }) => store.read.domains.count({ organization_id: org }),
  member_count: ({ store, org }) => store.read.memberships.count({ organization_id: org }),
  membership_count: ({ store, org }) => store.read.memberships.count({ organization_id: org }),
  role_count: ({ store, org }) => store.read.roles.count({ organization_id: org }),
  role_membership_count: ({ store }) => store.read.role_memberships.count({}),
  proxy_record_count: ({ store, org }) => store.read.proxy_records.count({ organization_id: org }),
  user_count: ({ store }) => store.read.users.count({}),
  key_count: ({ store, user }) => store.read.personal_keys.count({ user_id: user }),
  plugin_count: ({ store }) => store.read.plugins.count({}),
  plugin_config_count: ({ store }) => store.read.plugin_configs.count({}),
  mail_sent: ({ world }) => world.outbox.length,
}

const exists =
  (table) =>
  async (want, { store }) => {
    const problems = []
    for (const one of [want].flat()) {
      const found = (await store.read[table].first({ id: one.id })) !== undefined
      if (found !== (one.is ?? true)) problems.push(`${show(one.id)} ${found ? 'is there' : 'is not there'}`)
    }
    return problems
  }

const checks = {
  mail_to: (want, { world }) => same([want].flat().sort(), world.outbox.map((mail) => mail.to).sort()),
  mail_reply_to: (want, { world }) => same([want].flat(), [...new Set(world.outbox.map((mail) => mail.replyTo))]),
  mail_subject: (want, { world }) => same(want, world.outbox.at(-1)?.subject),
  organization_exists: exists('organizations'),
  project_exists: exists('projects'),
  team_exists: exists('projects'),
  invite_exists: exists('invites'),
  domain_exists: exists('domains'),
  role_exists: exists('roles'),
  key_exists: exists('personal_keys'),
  is_member: async (want, context) => {
    const problems = []
    for (const one of [want].flat()) {
      const user = await context.store.read.users.first({ uuid: one.user })
      const found = user && (await context.store.read.memberships.first({ user_id: user.id, organization_id: one.org ?? context.org }))
      if (Boolean(found) !== (one.is ?? true)) problems.push(`${one.user} ${found ? 'is' : 'is not'} a member`)
    }
    return problems
  },
  schedule: async ({ inputs_absent: absent = [], ...want }, { world }) => {
    const found = await world.scheduleOf(want.id)
    if (!found) return [`${show(want.id)} has no schedule`]
    const { inputs = {}, ...plain } = want
    const wrong = (wanted, got) => Object.entries(wanted).flatMap(([key, value]) => same(value, got[key]).map((text) => `${key}: ${text}`))
    return [...wrong(plain, found), ...wrong(inputs, found.inputs), ...absent.filter((key) => key in found.inputs)]
  },
  source_file: async ({ name, ...want }, { store }) => {
    const file = await store.read.plugin_files.first({ name })
    if (!file) return [`there is no file ${name}`]
    return Object.entries(want).flatMap(([field, value]) => same(value, file[field]).map((text) => `${field}: ${text}`))
  },
  backfill_status: async ({ id, is }, { store }) => same(is, (await store.read.batch_export_backfills.first({ shown_id: id }))?.status),
  level_of: async (want, context) => {
    const problems = []
    for (const one of [want].flat()) {
      const user = await context.store.read.users.first({ uuid: one.user })
      const found = user && (await context.store.read.memberships.first({ user_id: user.id, organization_id: one.org ?? context.org }))
      if (found?.level !== one.is) problems.push(`${one.user}: want ${one.is}, got ${found?.level}`)
    }
    return problems
  },
}

export const seeState = async (what, want, { world, variables, kinds, tables }) => {
  const store = world.accounts.context.store
  const context = { world, store, org: variables.org.id, user: variables.user.id }
  if (Object.hasOwn(counts, what)) return same(want, await counts[what](context))
  if (Object.hasOwn(checks, what)) return checks[what](want, context)
  const [name, field] = what.split('.')
  // By its alias, or by its kind when there is one of it.
  const table = tables[kinds.get(name) ?? name]
  const alias = kinds.has(name) ? name : [...kinds].find(([, kind]) => kind === name)?.[0]
  if (table && field) {
    const row = await store.read[table].first(alias ? { id: variables[alias].id } : {})
    if (row && field in row) return same(want, iso(row[field]))
  }
  return null
}
