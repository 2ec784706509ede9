import { Skip } from '../skip.mjs'
import { fill } from '../variables.mjs'

// What a case is given: state that no route sets, and rows written straight to the store.

const levels = { member: 1, admin: 8, owner: 15 }
const tables = {
  organization: 'organizations',
  project: 'projects',
  user: 'users',
  domain: 'domains',
  invite: 'invites',
  role: 'roles',
  role_membership: 'role_memberships',
  personal_api_key: 'personal_keys',
  proxy_record: 'proxy_records',
  plugin: 'plugins',
  plugin_config: 'plugin_configs',
  batch_export_run: 'batch_export_runs',
}
/** Fields of cases that the store calls otherwise. */
const columns = {
  user: {
    is_2fa_enabled: 'has_second_factor',
    has_social_auth: 'has_social_login',
    current_team: 'current_project_id',
    current_organization: 'current_organization_id',
    team: 'current_project_id',
    organization: 'current_organization_id',
  },
}

const pluginColumns = new Set(
  'plugin_type name description url icon config_schema tag latest_tag is_global capabilities metrics public_jobs'.split(' '),
)

const timeOf = (value, now) => (value === null ? null : value === 'now' ? now : new Date(value))
const isTime = (column) => /_at$|^date_joined$|_retry$/.test(column)

export async function createThings(world) {
  const { accounts } = world
  const { store, newId } = accounts.context
  const now = () => world.now ?? new Date()
  world.settings = { ...world.settings, isHosted: true }
  const { organization, project, user } = await world.seed()
  const variables = { org: organization, team: project, user }
  const kinds = new Map([
    ['org', 'organization'],
    ['team', 'project'],
    ['user', 'user'],
  ])
  const strangers = {}

  /** Of an alias, of a record, or the id itself. */
  const idOf = (given) => variables[given]?.id ?? variables[given] ?? given?.id ?? given
  const orgOf = (entry) => variables[entry.org ?? 'org'] ?? variables.org
  const write = (work) => store.write(work)
  /** The alias, with the row as it stands. */
  const keep = async (name, kind, row, extra = {}) => {
    if (name) {
      variables[name] = { ...row, ...extra }
      kinds.set(name, kind)
    }
    return row
  }

  const dataOf = (entry) => world.projectData((variables[entry.project ?? entry.team] ?? variables.team).id)

  const creators = {
    organization: async (entry) => {
      const owner = entry.owner === 'caller' ? variables.user : variables[entry.owner]
      const row = await world.makeOrganization({
        name: entry.name ?? 'Other',
        owner,
        withProject: Boolean(owner) || Boolean(entry.with_project),
      })
      if (entry.plugins_access_level !== undefined)
        await write((all) => all.organizations.update({ id: row.id }, { plugins_access_level: entry.plugins_access_level }))
      if (entry.caller_joins)
        await write((all) =>
          all.memberships.insert({
            id: newId(),
            organization_id: row.id,
            user_id: variables.user.id,
            level: levels.member,
            joined_at: now(),
            updated_at: now(),
          }),
        )
      const first = await store.read.projects.first({ organization_id: row.id })
      return keep(entry.as, 'organization', row, first ? { team_id: first.id, team: first } : {})
    },
    project: async (entry) => {
      const { create: _, org: __, as, note: ___, ...fields } = entry
      const row = await world.makeProject(orgOf(entry).id, fields)
      return keep(as, 'project', row)
    },
    user: async (entry) => {
      const home = entry.join === true ? variables.org : entry.join ? variables[entry.join] : entry.org ? variables[entry.org] : null
      const at = typeof entry.level === 'string' ? levels[entry.level] : (entry.level ?? levels.member)
      const row = await world.makeUser({ ...entry, organizationId: home?.id ?? null, level: at })
      return keep(entry.as, 'user', row)
    },
    membership: async (entry) => {
      const at = typeof entry.level === 'string' ? levels[entry.level] : (entry.level ?? levels.member)
      const row = {
        id: newId(),
        organization_id: orgOf(entry).id,
        user_id: (variables[entry.user] ?? variables.user).id,
        level: at,
        joined_at: now(),
        updated_at: now(),
      }
      await write((all) => all.memberships.insert(row))
      return keep(entry.as, 'membership', row)
    },
    project_membership: async (entry) => {
      const at = typeof entry.level === 'string' ? levels[entry.level] : (entry.level ?? levels.member)
      const row = {
        id: newId(),
        project_id: (variables[entry.project ?? entry.team] ?? variables.team).id,
        user_id: (variables[entry.user] ?? variables.user).id,
        level: at,
        joined_at: now(),
        updated_at: now(),
      }
      await write((all) => all.project_memberships.insert(row))
      return keep(entry.as, 'project_membership', row)
    },
    domain: async (entry) => {
      const row = {
        id: newId(),
        organization_id: orgOf(entry).id,
        domain: entry.domain,
        verification_challenge: entry.verification_challenge ?? `challenge-${newId()}`,
        verified_at: timeOf(entry.verified_at ?? null, now()),
        last_verification_retry: null,
        jit_provisioning_enabled: entry.jit_provisioning_enabled ?? false,
        sso_enforcement: entry.sso_enforcement ?? '',
        saml_entity_id: entry.saml_entity_id ?? null,
        saml_acs_url: entry.saml_acs_url ?? null,
        saml_x509_cert: entry.saml_x509_cert ?? null,
        is_assumed: false,
        proof: null,
        proof_checked_at: null,
        proof_missing_since: null,
        oidc_issuer: null,
        oidc_client_id: null,
        oidc_client_secret: null,
        pending: null,
        created_at: now(),
      }
      await write((all) => all.domains.insert(row))
      return keep(entry.as, 'domain', row)
    },
    invite: async (entry) => {
      const made = entry.created_at ? new Date(entry.created_at) : now()
      const row = {
        id: newId(),
        organization_id: orgOf(entry).id,
        target_email: entry.target_email ?? 'invited@posthog.com',
        first_name: entry.first_name ?? '',
        message: entry.message ?? null,
        level: typeof entry.level === 'string' ? levels[entry.level] : (entry.level ?? levels.member),
        emailing_attempt_made: false,
        private_project_access: entry.private_project_access ?? [],
        created_by_id: entry.created_by ? variables[entry.created_by].id : null,
        created_at: made,
        updated_at: made,
      }
      // Cases that accept an invite name its id: there the id is what was sent.
      await write((all) => all.invites.insert({ ...row, secret_hash: world.hashOf(row.id) }))
      return keep(entry.as, 'invite', row)
    },
    role: async (entry) => {
      const row = {
        id: newId(),
        organization_id: orgOf(entry).id,
        name: entry.name,
        feature_flags_access_level: entry.feature_flags_access_level ?? 37,
        created_by_id: null,
        created_at: now(),
      }
      await write((all) => all.roles.insert(row))
      return keep(entry.as, 'role', row)
    },
    role_membership: async (entry) => {
      const row = {
        id: newId(),
        role_id: variables[entry.role].id,
        user_id: (variables[entry.user] ?? variables.user).id,
        joined_at: now(),
        updated_at: now(),
      }
      await write((all) => all.role_memberships.insert(row))
      return keep(entry.as, 'role_membership', row)
    },
    batch_export: async (entry) => {
      const row = await world.makeBatchExport(variables.user, (variables[entry.team] ?? variables.team).id, entry.body)
      if (entry.as) variables[entry.as] = row.id // paths use it as the id
    },
    proxy_record: async (entry) => {
      const row = {
        id: newId(),
        organization_id: orgOf(entry).id,
        domain: entry.domain,
        target_cname: entry.target_cname ?? 'target.example.com',
        status: entry.status ?? 'waiting',
        message: entry.message ?? null,
        created_by_id: variables.user.id,
        created_at: now(),
        updated_at: now(),
      }
      await write((all) => all.proxy_records.insert(row))
      return keep(entry.as, 'proxy_record', row)
    },
    personal_api_key: async (entry) => {
      const owner = variables[entry.user] ?? variables.user
      const row = await world.makeKey(owner, {
        label: entry.label ?? 'Test key',
        scopes: entry.scopes === undefined ? ['*'] : entry.scopes,
        scoped_teams: entry.scoped_teams ?? [],
        scoped_organizations: entry.scoped_organizations ?? [],
        value: entry.value,
        last_used_at: timeOf(entry.last_used_at ?? null, now()),
      })
      return keep(entry.as, 'personal_api_key', row)
    },
    totp_device: async (entry) => {
      const owner = variables[entry.user] ?? variables.user
      await write((all) => all.users.update({ id: owner.id }, { has_second_factor: (entry.name ?? 'default') === 'default' }))
    },
    social_auth: async (entry) => {
      const owner = variables[entry.user] ?? variables.user
      await write((all) => all.users.update({ id: owner.id }, { has_social_login: true }))
    },
    query_status: async (entry) => {
      const done = entry.complete === true || entry.error === true
      const row = {
        id: entry.id ?? entry.client_query_id ?? newId().replaceAll('-', ''),
        project_id: (variables[entry.project ?? entry.team] ?? variables.team).id,
        task_id: newId(),
        is_complete: entry.complete === true,
        is_error: entry.error === true,
        error_message: entry.error_message ?? null,
        results: entry.results ?? null,
        start_time: now(),
        end_time: done ? now() : null,
        expiration_time: done ? (timeOf(entry.expiration_time ?? null, now()) ?? new Date(now().getTime() + 600_000)) : null,
      }
      await write((all) => all.query_runs.insert(row))
      return keep(entry.as, 'query_status', row)
    },
    dashboard: async (entry) => {
      const row = {
        id: 1000 + (await store.read.dashboards.count({})),
        project_id: (variables[entry.project ?? entry.team] ?? variables.team).id,
        name: entry.name ?? 'Dashboard',
      }
      await write((all) => all.dashboards.insert(row))
      return keep(entry.as, 'dashboard', row)
    },
    plugin: async (entry) => {
      const { create: _, as, org: __, organization: ___, note: ____, files = {}, source, source_files = files, ...given } = entry
      const fields = Object.fromEntries(Object.entries(given).filter(([name]) => pluginColumns.has(name)))
      const row = await world.makePlugin(orgOf({ org: entry.org ?? entry.organization }).id, {
        ...fields,
        files: typeof source === 'string' ? { 'index.ts': source } : source_files,
      })
      return keep(as, 'plugin', row)
    },
    plugin_config: async (entry) => {
      const project = variables[entry.project ?? entry.team] ?? variables.team
      const { enabled, order, config, name, description, deleted } = entry
      const row = await world.makePluginConfig(project.id, idOf(entry.plugin), { enabled, order, config, name, description, deleted })
      return keep(entry.as, 'plugin_config', row)
    },
    plugin_source_file: async (entry) => {
      const { name = entry.filename, source = '', transpiled = null, status = null, error = null } = entry
      const row = { id: newId(), plugin_id: idOf(entry.plugin), name, source, transpiled, status, error, updated_at: now() }
      await write((all) => all.plugin_files.insert(row))
      return keep(entry.as, 'plugin_source_file', row)
    },
    batch_export_run: async (entry) => {
      const batch_export_id = idOf(entry.batch_export)
      const end = entry.data_interval_end ? new Date(entry.data_interval_end) : now()
      const start = entry.data_interval_start ? new Date(entry.data_interval_start) : new Date(end.getTime() - 3_600_000)
      const made = entry.created_at ? new Date(entry.created_at) : now()
      const { status = 'Completed', records_completed = 0, latest_error = null } = entry
      const row = await world.makeBatchExportRun(batch_export_id, made, start, end, { status, records_completed, latest_error })
      return keep(entry.as, 'batch_export_run', row)
    },
    batch_export_log: async (entry) => {
      const batch_export_id = idOf(entry.batch_export)
      const { project_id } = await store.read.batch_exports.first({ id: batch_export_id })
      const row = {
        id: newId(),
        project_id,
        batch_export_id,
        run_id: entry.run ? idOf(entry.run) : (entry.run_id ?? null),
        timestamp: entry.timestamp ? new Date(entry.timestamp) : now(),
        level: entry.level ?? 'INFO',
        message: entry.message ?? '',
      }
      await write((all) => all.batch_export_logs.insert(row))
      return keep(entry.as, 'batch_export_log', row)
    },
    group_type: async (entry) => {
      const { group_type, group_type_index } = entry
      await (await dataOf(entry)).importGroups([], { group_types: [{ group_type, group_type_index }] })
    },
    cohort: async (entry) => {
      const { name = 'Cohort', is_static = false, filters, groups, person_ids } = entry
      const made = await (await dataOf(entry)).createCohort({
        name,
        is_static,
        ...(filters && { filters }),
        ...(groups && { groups }),
        ...(person_ids && { person_ids }),
      })
      return keep(entry.as, 'cohort', made)
    },
    action: async (entry) =>
      keep(entry.as, 'action', await (await dataOf(entry)).createAction({ name: entry.name ?? 'Action', steps: entry.steps ?? [] })),
    person: async (entry) => {
      const { distinct_ids, properties = {}, is_identified = false, created_at } = entry
      const row = { distinct_ids, properties, is_identified, ...(created_at && { created_at }) }
      const { ids } = await (await dataOf(entry)).importPersons([row])
      return keep(entry.as, 'person', { id: ids[0], uuid: ids[0], ...row })
    },
    group: async (entry) => {
      const { group_type, group_key, properties = {} } = entry
      await (await dataOf(entry)).importGroups([{ group_type, group_key, properties }])
    },
    event: async (entry) => {
      const { create: _, as: __, project: ___, team: ____, note: _____, ...event } = entry
      await (await dataOf(entry)).ingest({ batch: [event] })
    },
    events: async (entry) => {
      const project = await dataOf(entry)
      const batch = entry.events.flatMap(({ repeat = 1, ...event }) => Array.from({ length: repeat }, () => event))
      await project.ingest({ batch })
    },
  }
  const sameKinds = {
    team: 'project',
    org: 'organization',
    team_membership: 'project_membership',
    explicit_team_membership: 'project_membership',
    organization_membership: 'membership',
    key: 'personal_api_key',
    persons: 'person',
    query: 'query_status',
    query_run: 'query_status',
    async_query: 'query_status',
    organization_invite: 'invite',
    organization_domain: 'domain',
    plugin_source: 'plugin_source_file',
    source_file: 'plugin_source_file',
    run: 'batch_export_run',
    log_entry: 'batch_export_log',
    batch_export_log_entry: 'batch_export_log',
    group_type_mapping: 'group_type',
  }

  const setField = async (path, value) => {
    const [name, field] = path.split('.')
    const kind = kinds.get(name)
    if (!kind || field === undefined) throw new Skip(`set ${path}`)
    const row = variables[name]
    if (kind === 'user' && (field === 'level' || field === 'membership_level')) {
      await write((all) =>
        all.memberships.update(
          { user_id: row.id, organization_id: variables.org.id },
          { level: typeof value === 'string' ? levels[value] : value },
        ),
      )
      return
    }
    const table = tables[kind]
    const column = columns[kind]?.[field] ?? field
    if (kind === 'personal_api_key' && field === 'value') throw new Skip(`set ${path}`)
    const current = table && (await store.read[table].first({ id: row.id }))
    if (!current) throw new Skip(`set ${path}`)
    const to = isTime(column) ? timeOf(value, now()) : value
    if (column in current) await write((all) => all[table].update({ id: row.id }, { [column]: to }))
    else if (kind === 'project')
      await write((all) => all.projects.update({ id: row.id }, { settings: { ...current.settings, [column]: to } }))
    else throw new Skip(`set ${path}`)
    variables[name] = { ...row, [field]: value }
  }

  const setters = {
    cloud: async (to) => {
      world.settings = { ...world.settings, isHosted: to, allowsManyOrganizations: to }
    },
    clock: async (to) => {
      world.now = to === null ? null : new Date(to)
    },
    email_enabled: async (to) => {
      world.hasMail = to
    },
    instance_tag: async (to) => {
      world.settings = { ...world.settings, instanceTag: to }
    },
    site_url: async (to) => {
      world.settings = { ...world.settings, siteUrl: to }
    },
  }
  const setLimit = async (name, to) => {
    const windows = { burst: 60, sustained: 3600, minute: 60, hour: 3600 }
    const rows = { default_returned_rows: 'defaultRows', max_returned_rows: 'mostRows' }
    if (rows[name]) world.rows = { ...world.rows, [rows[name]]: to }
    else if (/query/.test(name)) world.limits = { ...world.limits, query: [{ count: Number(to.count ?? to), seconds: to.seconds ?? 3600 }] }
    else if (/api|burst|sustained/.test(name))
      world.limits = {
        ...world.limits,
        api: [{ count: Number(to.count ?? to), seconds: to.seconds ?? windows[name.split(/[._]/).pop()] ?? 60 }],
      }
    else throw new Skip(`set limits.${name}`)
  }

  /** What every request carries besides. Where it comes from is what a proxy in front would say of it. */
  const headers = {}
  const isAboutCountry = (name) => /country|geo/i.test(String(name))
  const setCountry = ({ set: _, stub: __, ...said }) => {
    const code = /\b[A-Z]{2}\b/.exec(JSON.stringify(said))?.[0]
    if (code) headers['cf-ipcountry'] = code
    else delete headers['cf-ipcountry']
  }

  const stubs = {
    // The hosts of the world have this archive in every repository; a case says nothing else.
    remote_plugin_archives: () => world.pluginHosts.files.clear(),
  }
  /** What takes events in fails: the sink, a queue, a producer. */
  const isFailingSink = ({ set, stub, to }) =>
    /sink|queue|producer|kafka/i.test(String(set ?? stub)) &&
    /fail|error|full|down|unavailable|false/i.test(JSON.stringify([set, stub, to ?? 'fails']))

  const apply = async (raw, scope) => {
    const entry = fill(raw, scope)
    if (isAboutCountry(entry.set ?? entry.stub)) setCountry(entry)
    else if (isFailingSink(entry)) world.refusesEvents = true
    else if (entry.set !== undefined) {
      const name = entry.set
      if (name === 'dns_txt') {
        const label = entry.name.replace('_posthog-challenge', '_waymark-challenge')
        const values = Array.isArray(entry.to) ? entry.to : []
        world.txt.set(label, values)
      } else if (name === 'dns_cname') {
        if (typeof entry.to === 'string' && entry.to !== 'NXDOMAIN') world.cname.set(entry.name, entry.to)
        else world.cname.delete(entry.name)
      } else if (name.startsWith('feature.')) {
        const isOn = entry.to === true || typeof entry.to?.limit === 'number'
        await world.setFeature(variables.org.id, name.slice('feature.'.length), isOn, entry.to?.limit)
      } else if (name.startsWith('limits.')) await setLimit(name.slice('limits.'.length), entry.to)
      else if (Object.hasOwn(setters, name)) await setters[name](entry.to)
      else await setField(name, entry.to)
    } else if (entry.create !== undefined) {
      const creator = creators[sameKinds[entry.create] ?? entry.create]
      if (!creator) throw new Skip(`create ${entry.create}`)
      await creator(entry)
    } else if (entry.wait === 'backfill started a run') await world.waymark.exports.scheduler.tick()
    else if (Object.hasOwn(stubs, entry.stub ?? '')) stubs[entry.stub]()
    else throw new Skip(entry.stub ? `stub ${entry.stub}` : `do ${JSON.stringify(entry.do)}`)
  }

  const stranger = async (kind) => {
    strangers[kind] ??= await (async () => {
      if (kind === 'orgless') return world.makeUser({ email: 'orgless@else.test', organizationId: null, level: 1 })
      const home = await world.makeOrganization({ name: 'Elsewhere', owner: null, withProject: true })
      return world.makeUser({ email: 'outsider@else.test', organizationId: home.id, level: levels.admin })
    })()
    return strangers[kind]
  }

  /** The headers that make the step's caller. */
  const credentials = async (as = 'member') => {
    if (as === 'anonymous') return {}
    if (Object.hasOwn(levels, as)) {
      const home = variables.org.id
      await write((all) => all.memberships.update({ user_id: variables.user.id, organization_id: home }, { level: levels[as] }))
      return world.login(variables.user)
    }
    if (as === 'outsider' || as === 'orgless') return world.login(await stranger(as))
    if (as.startsWith('key:')) {
      const [, list, limit] = /^key:(.*?)(?:@(org|team))?$/.exec(as)
      const limits = {
        scoped_organizations: limit === 'org' ? [variables.org.id] : [],
        scoped_teams: limit === 'team' ? [variables.team.id] : [],
      }
      const key = await world.makeKey(variables.user, { label: as.slice(0, 40), scopes: list.split(','), ...limits })
      return { authorization: `Bearer ${key.value}` }
    }
    if (kinds.get(as) === 'user') return world.login(variables[as])
    if (kinds.get(as) === 'personal_api_key') return { authorization: `Bearer ${variables[as].value}` }
    throw new Skip(`caller ${as}`)
  }

  return { world, variables, kinds, tables, headers, apply, credentials }
}
