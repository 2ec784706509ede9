// Who may ask what of one organization and one project in it: what is promised, said once more, apart from the code. A route that is in none of the
// lists, or in two, fails.

/** Those that ask, in the order of the columns. */
export const callers = [
  'nobody',
  "the project's token",
  'a member of another organization',
  'somebody invited who has not joined',
  'a deactivated user',
  'a removed member',
  //
  'a viewer',
  'a member',
  'an administrator',
  'the owner',
  // Keys of the owner, by their scopes,
  'a key for everything',
  "a key that may read the route's object",
  "a key that may write the route's object",
  'a key for all other objects',
  // for everything, by their limits,
  'a key limited to the project',
  'a key limited to another project of the organization',
  'a key limited to the organization',
  'a key limited to another organization of its owner',
  // and those of others.
  "a member's key",
  "a deactivated user's key",
  "a removed member's key",
] as const
export type CallerName = (typeof callers)[number]

const exportRoutes = (resource: string, names: readonly string[]) => names.map((name) => `${resource}.${name}`)
const readingExports = ['list', 'destinations', 'retrieve', 'backfills', 'retrieve_backfill', 'runs', 'retrieve_run', 'logs', 'run_logs']
const changingExports = [
  'create',
  'update',
  'replace',
  'remove',
  'pause',
  'unpause',
  'backfill',
  'create_backfill',
  'cancel_backfill',
  'retry_run',
  'cancel_run',
]

const exportChecks = ['run_test_step_new', 'run_test_step']

const families = ['plugins', 'pipeline_destinations', 'pipeline_transformations', 'pipeline_frontend_apps', 'pipeline_import_apps']
const pluginRoutes = (...names: readonly string[]) => families.flatMap((family) => exportRoutes(family, names))
const configs = [
  'plugin_configs',
  'pipeline_destination_configs',
  'pipeline_transformation_configs',
  'pipeline_frontend_apps_configs',
  'pipeline_import_apps_configs',
]
const changingDeliveries = ['retry_deliveries', 'discard_deliveries', 'retry_delivery', 'discard_delivery']
const configRoutes = (...names: readonly string[]) => configs.flatMap((family) => exportRoutes(family, names))

/** `ok` is the status of the row. */
export const rights: Readonly<Record<string, readonly string[]>> = {
  // The organization's things, by its path.
  '401 401 403 403 401 403 | ok ok ok ok | ok ok ok 403 | 403 403 ok 403 | ok 401 403': [
    'members.list',
    'invites.list',
    'domains.list',
    'domains.retrieve',
    'roles.list',
    'roles.retrieve',
    'role_memberships.list',
    'proxy_records.list',
    'proxy_records.retrieve',
    'organization_project_list.list',
    ...exportRoutes('organization_batch_exports', readingExports),
    ...pluginRoutes('list', 'retrieve', 'source', 'check_for_updates', 'activity', 'exports_unsubscribe_configs', 'repository', 'unused'),
  ],
  '401 401 403 403 401 403 | 403 ok ok ok | ok 403 ok 403 | 403 403 ok 403 | ok 401 403': [
    'invites.create',
    'invites.create_many',
    'invites.resend',
    'invites.remove',
    ...exportRoutes('organization_batch_exports', changingExports),
    ...pluginRoutes('create', 'update', 'remove', 'update_source', 'upgrade'),
  ],
  '401 401 403 403 401 403 | 403 403 ok ok | ok 403 ok 403 | 403 403 ok 403 | 403 401 403': [
    'members.update',
    'members.remove',
    'domains.create',
    'domains.update',
    'domains.verify',
    'domains.remove',
    'roles.create',
    'roles.update',
    'roles.remove',
    'role_memberships.create',
    'role_memberships.remove',
    'proxy_records.create',
    'proxy_records.update',
    'proxy_records.retry',
    'proxy_records.remove',
    'organization_project_list.create',
  ],
  // A recent login, and the domain is not proven.
  '401 401 403 403 401 403 | 403 403 400 400 | 403 403 403 403 | 403 403 403 403 | 403 401 403': ['domains.create_scim_token'],
  '401 401 403 403 401 403 | 403 403 ok ok | 403 403 403 403 | 403 403 403 403 | 403 401 403': ['domains.remove_scim_token'],
  // A login of the owner; the member has no second factor.
  '401 401 403 403 401 403 | 403 403 403 400 | 403 403 403 403 | 403 403 403 403 | 403 401 403': ['members.reset_two_factor'],

  // They have everything of the server, and say where.
  '401 401 403 403 401 403 | 403 403 ok ok | ok ok ok 403 | 403 403 ok 403 | 403 401 403': ['backups.retrieve'],

  // Checks of a destination take a login.
  '401 401 403 403 401 403 | 403 ok ok ok | 403 403 403 403 | 403 403 403 403 | 403 401 403': [
    ...exportRoutes('organization_batch_exports', exportChecks),
    ...exportRoutes('batch_exports', exportChecks),
  ],
  '401 401 403 403 401 403 | ok ok ok ok | 403 403 403 403 | 403 403 403 403 | 403 401 403': [
    'organization_batch_exports.test',
    'batch_exports.test',
  ],

  // The organization itself.
  '401 401 404 404 401 404 | ok ok ok ok | ok ok ok 403 | 403 403 ok 404 | ok 401 404': ['organizations.retrieve'],
  '401 401 404 404 401 404 | 403 403 ok ok | ok ok ok 403 | 403 403 ok 404 | 403 401 404': [
    'organizations.activity',
    'organizations.activity_export',
  ],
  '401 401 404 404 401 404 | 403 403 ok ok | ok 403 ok 403 | 403 403 ok 404 | 403 401 404': ['organizations.update'],
  '401 401 404 404 401 404 | 403 403 403 ok | ok 403 ok 403 | 403 403 ok 404 | 403 401 404': ['organizations.remove'],

  // The project's things, by its path. Asking takes a scope to read.
  '401 401 403 403 401 403 | ok ok ok ok | ok ok ok 403 | ok 403 ok 403 | ok 401 403': [
    'project_members.list',
    'project_members.retrieve',
    'project_roles.list',
    'watches.list',
    'actions.list',
    'actions.retrieve',
    'actions.activity',
    'cohorts.list',
    'cohorts.retrieve',
    'cohorts.persons',
    'cohorts.activity',
    'events.list',
    'events.values',
    'events.position',
    'events.retrieve',
    'persons.list',
    'persons.values',
    'persons.properties',
    'persons.cohorts',
    'person_deletions.list',
    'person_deletions.retrieve',
    'persons.all_activity',
    'persons.retrieve',
    'persons.activity',
    'groups_types.list',
    'groups.list',
    'groups.find',
    'groups.related',
    'groups.property_definitions',
    'groups.property_values',
    'groups.activity',
    'event_definitions.activity',
    'property_definitions.activity',
    ...exportRoutes('insights', ['list', 'retrieve', 'my_last_viewed', 'viewed', 'viewed_many', 'cancel', 'activity', 'activity_of_all']),
    ...exportRoutes('dashboards', ['list', 'retrieve', 'activity', 'activity_of_all']),
    'insight_sharing.retrieve',
    'dashboard_sharing.retrieve',
    ...exportRoutes('alerts', ['list', 'retrieve', 'checks', 'deliveries', 'activity']),
    ...exportRoutes('subscriptions', ['list', 'retrieve', 'deliveries', 'activity']),
    ...exportRoutes('annotations', ['list', 'retrieve', 'activity']),
    ...exportRoutes('saved_filters', ['list', 'retrieve', 'activity']),
    ...exportRoutes('warehouse_saved_queries', ['list', 'retrieve', 'ancestors', 'descendants', 'activity']),
    'event_definitions.list',
    'event_definitions.retrieve',
    'property_definitions.list',
    'property_definitions.retrieve',
    'historical_import.retrieve',
    'ingestion_warnings.list',
    ...exportRoutes('batch_exports', readingExports),
    ...configRoutes('list', 'retrieve', 'frontend', 'logs', 'failed_deliveries'),
    'query.create',
    'query.export',
    'query.retrieve',
    'query.cancel',
    'query.upgrade',
    'query.check_auth_for_async',
    'query.draft_sql',
    'feature_flags.list',
  ],
  '401 401 403 403 401 403 | 404 404 404 404 | 404 404 404 403 | 404 403 404 403 | 404 401 403': [
    'early_access_feature.list',
    'early_access_feature.retrieve',
    'experiments.list',
    'experiments.retrieve',
    'feature_flags.retrieve',
    'notebooks.list',
    'notebooks.retrieve',
    'session_recordings.list',
    'session_recordings.retrieve',
    'surveys.list',
    'surveys.retrieve',
  ],
  // Events and activity are read, too.
  '401 401 403 403 401 403 | ok ok ok ok | ok 403 403 403 | ok 403 ok 403 | ok 401 403': ['persons.everything'],
  '401 401 403 403 401 403 | 403 ok ok ok | ok 403 ok 403 | ok 403 ok 403 | ok 401 403': [
    'insight_sharing.update',
    'insight_sharing.refresh',
    'dashboard_sharing.update',
    'dashboard_sharing.refresh',
    ...exportRoutes('alerts', ['create', 'update', 'replace', 'remove', 'retry_delivery', 'test_delivery']),
    ...exportRoutes('subscriptions', ['create', 'update', 'replace', 'retry_delivery', 'test_delivery']),
    'actions.create',
    'actions.update',
    'actions.replace',
    'cohorts.create',
    'cohorts.update',
    'cohorts.replace',
    'cohorts.remove',
    'persons.bulk_delete',
    'persons.update',
    'persons.update_by_post',
    'persons.update_property',
    'persons.delete_property',
    'persons.split',
    'persons.merge',
    'persons.remove',
    'groups_types.update',
    'groups.create',
    'groups.update_property',
    'groups.delete_property',
    'event_definitions.remove',
    'property_definitions.remove',
    'insights.create',
    'insights.update',
    ...exportRoutes('annotations', ['create', 'update', 'replace']),
    ...exportRoutes('saved_filters', ['create', 'update', 'replace', 'remove']),
    ...exportRoutes('warehouse_saved_queries', ['create', 'update', 'replace', 'remove']),
    ...exportRoutes('dashboards', ['create', 'update', 'move_tile', 'copy_tile', 'reorder_tiles']),
    'event_definitions.update',
    'property_definitions.update',
    ...exportRoutes('batch_exports', changingExports),
    ...configRoutes('create', 'update', 'remove', 'rearrange', 'job', ...changingDeliveries),
  ],
  // The current project of each caller, within the reach of a key.
  '401 401 ok 404 401 404 | ok ok ok ok | ok ok ok 403 | ok ok ok ok | ok 401 404': ['plugin_config.list'],
  '401 401 ok 404 401 404 | 403 ok ok ok | ok 403 ok 403 | ok ok ok ok | ok 401 404': ['plugin_config.create', 'plugin_config.rearrange'],
  '401 401 404 404 401 404 | ok ok ok ok | ok ok ok 403 | ok 404 ok 404 | ok 401 404': exportRoutes('plugin_config', [
    'retrieve',
    'frontend',
    'logs',
    'failed_deliveries',
  ]),
  '401 401 404 404 401 404 | 403 ok ok ok | ok 403 ok 403 | ok 404 ok 404 | ok 401 404': exportRoutes('plugin_config', [
    'update',
    'remove',
    'job',
    ...changingDeliveries,
  ]),
  '401 401 403 403 401 403 | 403 403 ok ok | ok 403 ok 403 | ok 403 ok 403 | 403 401 403': [
    'historical_import.update',
    'historical_import.replace',
    'property_definitions.delete_values',
    'project_members.create',
    'project_members.update',
    'project_members.remove',
    'watches.update',
    'project_roles.create',
    'project_roles.update',
    'project_roles.remove',
    ...configRoutes('agree'),
  ],
  '401 401 403 403 401 403 | 403 ok ok ok | ok ok ok 403 | ok 403 ok 403 | ok 401 403': ['slow_queries.list', 'slow_queries.explain'],
  '401 401 404 404 401 404 | 403 403 ok ok | ok 403 ok 403 | ok 404 ok 404 | 403 401 404': ['plugin_config.agree'],

  // The project itself.
  '401 401 404 404 401 404 | ok ok ok ok | ok ok ok 403 | ok 403 ok 404 | ok 401 404': [
    'projects.retrieve',
    'projects.activity',
    'projects.is_generating_demo_data',
  ],
  '401 401 404 404 401 404 | 403 ok ok ok | ok 403 ok 403 | ok 403 ok 404 | ok 401 404': ['projects.update'],
  '401 401 404 404 401 404 | 403 403 ok ok | ok 403 ok 403 | ok 403 ok 404 | 403 401 404': ['projects.reset_token', 'projects.remove'],
  // The same under its organization, whose path others may not enter.
  '401 401 403 403 401 403 | ok ok ok ok | ok ok ok 403 | ok 403 ok 404 | ok 401 403': [
    'organization_projects.retrieve',
    'organization_projects.activity',
    'organization_projects.is_generating_demo_data',
  ],
  '401 401 403 403 401 403 | 403 ok ok ok | ok 403 ok 403 | ok 403 ok 404 | ok 401 403': ['organization_projects.update'],
  '401 401 403 403 401 403 | 403 403 ok ok | ok 403 ok 403 | ok 403 ok 404 | 403 401 403': [
    'organization_projects.reset_token',
    'organization_projects.remove',
  ],

  // The caller's own things: everybody has some, and limited keys are shown those that they reach.
  '401 401 ok ok 401 ok | ok ok ok ok | ok ok ok 403 | 403 403 ok ok | ok 401 ok': ['organizations.list', 'project_list.list'],
  '401 401 ok ok 401 ok | ok ok ok ok | ok 403 ok 403 | 403 403 403 403 | ok 401 ok': ['organizations.create', 'users.update'],
  '401 401 ok 400 401 400 | 403 403 ok ok | ok 403 ok 403 | 403 403 ok ok | 403 401 400': ['project_list.create'],
  '401 401 ok ok 401 ok | ok ok ok ok | ok ok ok 403 | ok ok ok ok | ok 401 ok': ['users.retrieve'],
  '401 401 ok ok 401 ok | ok ok ok ok | 403 403 403 403 | 403 403 403 403 | 403 401 403': [
    'users.sessions',
    'users.end_session',
    'users.end_sessions',
    'two_factor.status',
    'passkeys.list',
    'two_factor.start_setup',
    'personal_api_keys.list',
    'personal_api_keys.scopes',
    'personal_api_keys.create',
    'personal_api_keys.retrieve',
    'personal_api_keys.update',
    'personal_api_keys.roll',
    'personal_api_keys.remove',
  ],
  // No mail server, and no link.
  '401 401 400 400 401 400 | 400 400 400 400 | 403 403 403 403 | 403 403 403 403 | 403 401 403': [
    'users.ask_confirmation',
    'users.confirm_email',
    // A code that is not right.
    'two_factor.validate',
    'two_factor.recovery_codes',
    'two_factor.disable',
    // At an address without a name.
    'passkeys.begin',
    'passkeys.create',
    'passkeys.prove',
  ],
  // None of the caller's.
  '401 401 404 404 401 404 | 404 404 404 404 | 403 403 403 403 | 403 403 403 403 | 403 401 403': ['passkeys.update', 'passkeys.remove'],
  '401 401 404 404 401 404 | 404 404 404 404 | ok ok ok ok | ok ok ok ok | ok 401 ok': ['personal_api_keys.current'],
  // Each tool is requests to the other routes.
  '401 401 ok ok 401 ok | ok ok ok ok | ok ok ok ok | ok ok ok ok | ok 401 ok': ['agents.call'],
}

/** Open to anybody. An invitation is for one address: others who are logged in cannot accept it, and no key counts as a login. */
export const openCallers = [
  'nobody',
  "the project's token",
  'a member of another organization',
  'somebody invited who has not joined',
  'the owner',
  'a key for everything',
] as const satisfies readonly CallerName[]
export const openRights: Readonly<Record<string, readonly string[]>> = {
  'ok ok ok ok ok ok': [
    'login.create',
    'login.ways',
    'login.precheck',
    'login.remove',
    // They lead to a page that says what is wrong.
    'oidc.begin',
    'oidc.finish',
    'saml.begin',
    'saml.finish',
    'session.retrieve',
    'setup.retrieve',
    'shared.page',
    'shared.embedded',
  ],
  '302 302 302 302 302 302': ['saml.acs'],
  // What SCIM supports is no secret. Everything else takes the token of a domain.
  '200 200 200 200 200 200': ['scim.configuration', 'scim.resource_types', 'scim.schemas'],
  '401 401 401 401 401 401': [
    'scim.users',
    'scim.create_user',
    'scim.user',
    'scim.replace_user',
    'scim.patch_user',
    'scim.remove_user',
    'scim.groups',
    'scim.create_group',
    'scim.group',
    'scim.replace_group',
    'scim.patch_group',
    'scim.remove_group',
  ],
  // No such domain, and no such type.
  '404 404 404 404 404 404': ['saml.metadata', 'scim.resource_type', 'scim.schema'],
  '400 400 400 400 400 400': [
    'login.second_step',
    'login.second_step_ways',
    'login.second_step_passkey',
    'login.begin_passkey',
    'login.passkey',
    'setup.create',
    'password_links.mail',
    'password_links.look',
    'password_links.use',
  ],
  '400 400 400 ok 400 400': ['signup.retrieve', 'signup.create'],
}
