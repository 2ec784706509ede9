import type { RowOf, Store, WriteAll } from './store.ts'

// The tables of account data. Times are UTC; ids are time-ordered UUIDs, except those of users and projects, which clients expect to be integers. Each
// table needs a row in `rowLimits` of limits/limits.ts: its largest size, its largest number, and the column of its owner.

export const accountShapes = {
  users: {
    id: 'integer',
    uuid: 'text',
    distinct_id: 'text',
    email: 'text',
    first_name: 'text',
    last_name: 'text',
    password_hash: 'text?',
    is_active: 'boolean',
    is_email_verified: 'boolean?',
    unproven_since: 'time?', // the address belongs to the one who proves it; null: proven, or from before there were proofs
    has_second_factor: 'boolean', // an app that is confirmed, or a passkey: the password is not enough
    has_social_login: 'boolean',
    current_organization_id: 'text?',
    current_project_id: 'integer?',
    date_joined: 'time',
    preferences: 'json',
    issuer: 'text?', // the application that signs the user in; null: the user has a password here
    subject: 'text?', // what that application calls the user
    deactivated_by: 'text?', // the domain whose identity provider has deactivated the account; null: the operator
  },
  organizations: {
    id: 'text',
    name: 'text',
    slug: 'text',
    created_at: 'time',
    updated_at: 'time',
    plugins_access_level: 'integer',
    available_product_features: 'json',
    is_member_join_email_enabled: 'boolean',
    enforce_2fa: 'boolean?',
    customer_id: 'text?',
  },
  memberships: {
    id: 'text',
    organization_id: 'text',
    user_id: 'integer',
    level: 'integer',
    joined_at: 'time',
    updated_at: 'time',
  },
  invites: {
    id: 'text',
    organization_id: 'text',
    target_email: 'text',
    first_name: 'text',
    message: 'text?',
    level: 'integer',
    emailing_attempt_made: 'boolean',
    private_project_access: 'json',
    created_by_id: 'integer?',
    created_at: 'time',
    updated_at: 'time',
    secret_hash: 'text?', // null: made before there were secrets, and cannot be accepted until it is sent again
  },
  domains: {
    id: 'text',
    organization_id: 'text',
    domain: 'text',
    verification_challenge: 'text',
    verified_at: 'time?',
    last_verification_retry: 'time?',
    jit_provisioning_enabled: 'boolean',
    sso_enforcement: 'text',
    saml_entity_id: 'text?',
    saml_acs_url: 'text?',
    saml_x509_cert: 'text?',
    created_at: 'time',
    is_assumed: 'boolean?', // not hosted: `verified_at` is the time of creation, and nobody proved it. null: of older versions
    pending: 'json?', // settings that were asked for before it was proven
    proof: 'text?', // what proved it: dns, operator; null: not proven, or proven by an older version
    proof_checked_at: 'time?', // when name servers were asked last
    proof_missing_since: 'time?', // name servers have no record any more; null: they had one, or did not answer
    oidc_issuer: 'text?',
    oidc_client_id: 'text?',
    oidc_client_secret: 'text?', // encrypted
  },
  roles: {
    id: 'text',
    organization_id: 'text',
    name: 'text',
    feature_flags_access_level: 'integer',
    created_by_id: 'integer?',
    created_at: 'time',
    scim_domain_id: 'text?', // the domain whose identity provider has made it, and changes it
    external_id: 'text?', // what that provider calls it
  },
  role_memberships: {
    id: 'text',
    role_id: 'text',
    user_id: 'integer',
    joined_at: 'time',
    updated_at: 'time',
  },
  projects: {
    id: 'integer',
    uuid: 'text',
    organization_id: 'text',
    name: 'text',
    api_token: 'text',
    created_at: 'time',
    updated_at: 'time',
    is_demo: 'boolean',
    access_control: 'boolean',
    ingested_event: 'boolean',
    timezone: 'text',
    week_start_day: 'integer?',
    settings: 'json', // the other writable fields that differ from their defaults
    events_per_day: 'integer?', // set by the operator; null: as the server, 0: no limit
  },
  project_memberships: {
    id: 'text',
    project_id: 'integer',
    user_id: 'integer',
    level: 'integer',
    joined_at: 'time',
    updated_at: 'time',
  },
  /** Private projects that are open to the members of a role. */
  project_roles: {
    id: 'text',
    project_id: 'integer',
    role_id: 'text',
    level: 'integer',
    created_at: 'time',
    updated_at: 'time',
  },
  definition_notes: {
    id: 'text',
    project_id: 'integer',
    description: 'text',
    updated_at: 'time',
    updated_by_id: 'integer?',
    fields: 'text?', // JSON: what else users say: tags, whether it is verified or hidden, other names
  },
  insights: {
    id: 'integer',
    project_id: 'integer',
    short_id: 'text',
    name: 'text?',
    derived_name: 'text?',
    description: 'text',
    query: 'json', // as it was sent, with the nodes around it that say how it is shown
    filters: 'json?', // the older form that the query was made from
    kind: 'text', // of the query inside
    position: 'integer?',
    favorited: 'boolean',
    saved: 'boolean',
    deleted: 'boolean',
    tags: 'json',
    created_at: 'time',
    created_by_id: 'integer?',
    last_modified_at: 'time',
    last_modified_by_id: 'integer?',
    updated_at: 'time',
    last_viewed_at: 'time?',
  },
  insight_views: { id: 'text', project_id: 'integer', insight_id: 'integer', user_id: 'integer', viewed_at: 'time' },
  /** Answers that are refreshed as long as somebody looks at them. */
  insight_refreshes: {
    id: 'text',
    project_id: 'integer',
    insight_id: 'integer',
    dashboard_id: 'integer?', // where it is shown; null: by itself
    viewed_at: 'time',
    due_at: 'time',
    refreshed_at: 'time?',
    failures: 'integer', // since the last success
    latest_error: 'text?',
  },
  /** Rows of older versions have the first three columns only. */
  dashboards: {
    id: 'integer',
    project_id: 'integer',
    name: 'text',
    description: 'text?',
    pinned: 'boolean?',
    deleted: 'boolean?',
    tags: 'json?',
    filters: 'json?', // for every tile
    variables: 'json?',
    breakdown_colors: 'json?',
    data_color_theme_id: 'integer?',
    creation_mode: 'text?',
    created_at: 'time?',
    created_by_id: 'integer?',
    last_modified_at: 'time?',
    last_accessed_at: 'time?',
  },
  dashboard_tiles: {
    id: 'integer',
    project_id: 'integer',
    dashboard_id: 'integer',
    insight_id: 'integer?', // null: a text
    body: 'text?',
    body_modified_at: 'time?',
    body_modified_by_id: 'integer?',
    position: 'integer',
    layouts: 'json',
    color: 'text?',
    show_description: 'boolean?',
    filters_overrides: 'json',
    deleted: 'boolean',
  },
  annotations: {
    id: 'integer',
    project_id: 'integer', // where it was made
    scope: 'text',
    place: 'text', // where it is shown: the project, or the organization
    content: 'text?',
    date_marker: 'time?',
    creation_type: 'text',
    dashboard_id: 'integer?',
    insight_id: 'integer?',
    deleted: 'boolean',
    created_at: 'time',
    created_by_id: 'integer?',
    updated_at: 'time',
  },
  saved_queries: {
    id: 'text',
    project_id: 'integer',
    name: 'text', // of the view that the statement is
    query: 'text',
    columns: 'json', // names and types
    created_at: 'time',
    created_by_id: 'integer?',
    updated_at: 'time',
  },
  saved_filters: {
    id: 'text',
    project_id: 'integer',
    name: 'text',
    properties: 'json', // as those of a query
    created_at: 'time',
    created_by_id: 'integer?',
    updated_at: 'time',
  },
  feature_flags: {
    id: 'integer',
    project_id: 'integer',
    key: 'text',
    name: 'text', // what it is for
    filters: 'json', // conditions, variants, payloads
    tags: 'json?',
    active: 'boolean',
    deleted: 'boolean',
    version: 'integer', // of its definition
    created_at: 'time',
    created_by_id: 'integer?',
    updated_at: 'time',
  },
  /** Secrets that applications sign the tokens of their viewers with. */
  viewer_keys: {
    id: 'text',
    project_id: 'integer',
    name: 'text',
    secret: 'text', // sealed
    created_at: 'time',
    created_by_id: 'integer?',
  },
  /** Tokens that end before their time. */
  viewer_revocations: {
    id: 'text', // of the project and the token
    project_id: 'integer',
    token_id: 'text',
    expires_at: 'time',
  },
  proxy_records: {
    id: 'text',
    organization_id: 'text',
    domain: 'text',
    target_cname: 'text',
    status: 'text',
    message: 'text?',
    created_by_id: 'integer?',
    created_at: 'time',
    updated_at: 'time',
  },
  batch_exports: {
    id: 'text',
    organization_id: 'text',
    project_id: 'integer',
    name: 'text',
    model: 'text',
    destination_type: 'text',
    config: 'json', // without secrets
    secrets: 'text?', // encrypted
    interval: 'text',
    paused: 'boolean',
    paused_reason: 'text?', // why it was paused by itself
    schema: 'json',
    filters: 'json',
    start_at: 'time?',
    end_at: 'time?',
    created_at: 'time',
    last_updated_at: 'time',
    last_paused_at: 'time?',
    cut_at: 'time', // where the next interval starts
    cut_position: 'json', // the log position that stands for it; null: not known yet
    failed_runs: 'integer', // since the last one that was completed
    is_deleted: 'boolean',
  },
  batch_export_runs: {
    id: 'text',
    batch_export_id: 'text',
    project_id: 'integer',
    lane: 'text', // runs of a lane are executed one after another: the schedule, a retry, a backfill
    backfill_id: 'text?',
    key: 'text',
    status: 'text',
    data_interval_start: 'time?',
    data_interval_end: 'time',
    range: 'json',
    attempt: 'integer',
    failures: 'integer',
    due_at: 'time', // not before
    records_completed: 'integer',
    records_total_count: 'integer?',
    bytes_exported: 'json',
    cursor: 'text?',
    latest_error: 'text?',
    created_at: 'time',
    last_updated_at: 'time',
    finished_at: 'time?',
  },
  batch_export_backfills: {
    id: 'text',
    batch_export_id: 'text',
    project_id: 'integer',
    shown_id: 'text',
    status: 'text',
    start_at: 'time?',
    end_at: 'time?',
    next_start: 'time?', // where its next run starts; null: all runs exist
    position: 'json', // rows that arrived later belong to the schedule
    total_runs: 'integer',
    finished_runs: 'integer',
    created_at: 'time',
    last_updated_at: 'time',
    finished_at: 'time?',
  },
  batch_export_logs: {
    id: 'text',
    project_id: 'integer',
    batch_export_id: 'text',
    run_id: 'text?',
    timestamp: 'time',
    level: 'text',
    message: 'text',
  },
  plugins: {
    id: 'integer',
    organization_id: 'text',
    plugin_type: 'text',
    name: 'text?',
    description: 'text?',
    url: 'text?', // without its query
    url_secrets: 'text?', // the query of the URL, encrypted: tokens for private repositories
    icon: 'text?',
    config_schema: 'json',
    tag: 'text?',
    latest_tag: 'text?',
    is_global: 'boolean',
    capabilities: 'json',
    metrics: 'json',
    public_jobs: 'json',
    code_hash: 'text?', // of the code as it is now; null: not computed yet
    created_at: 'time',
    updated_at: 'time',
  },
  /** Code that was changed, as projects run it that have not agreed to the change. */
  plugin_versions: {
    id: 'text',
    plugin_id: 'integer',
    hash: 'text',
    files: 'json',
    capabilities: 'json',
    config_schema: 'json',
    created_at: 'time',
  },
  plugin_files: {
    id: 'text',
    plugin_id: 'integer',
    name: 'text',
    source: 'text',
    transpiled: 'text?',
    status: 'text?', // of files that are compiled
    error: 'text?',
    updated_at: 'time',
  },
  plugin_configs: {
    id: 'integer',
    organization_id: 'text',
    project_id: 'integer',
    plugin_id: 'integer',
    enabled: 'boolean',
    position: 'integer', // among the plugins of the project
    config: 'json', // without secrets
    secrets: 'json', // each encrypted
    name: 'text?',
    description: 'text?',
    is_deleted: 'boolean',
    error: 'text?', // why the server disabled it
    agreed_hash: 'text?', // of the code that an administrator agreed to; empty: none; null: from before, and as the code is
    created_at: 'time',
    updated_at: 'time',
  },
  plugin_attachments: {
    id: 'text',
    project_id: 'integer',
    plugin_config_id: 'integer',
    key: 'text',
    content_type: 'text',
    file_name: 'text',
    file_size: 'integer',
    contents: 'text', // base64, encrypted
  },
  /** Addresses that take requests for plugin configs, one each. */
  plugin_webhooks: {
    plugin_config_id: 'integer',
    project_id: 'integer',
    hash: 'text', // of the secret in the address
    secret: 'text', // the same, encrypted: it is shown to those who may change the config
    created_at: 'time',
  },
  /** Of plugin configs that receive stored events. */
  plugin_deliveries: {
    plugin_config_id: 'integer',
    project_id: 'integer',
    position: 'json', // of the log: events up to it are delivered, or among the failed deliveries
    counts: 'json', // of the last day
    updated_at: 'time',
  },
  plugin_failed_deliveries: {
    id: 'text',
    plugin_config_id: 'integer',
    project_id: 'integer',
    position: 'json', // of the event in the log
    event_uuid: 'text',
    event: 'text',
    status: 'text',
    attempts: 'integer',
    due_at: 'time?', // of the next attempt; null: a dead letter
    latest_error: 'text',
    created_at: 'time',
    last_attempt_at: 'time',
  },
  /** Public links, each to one insight or one dashboard. */
  sharing_links: {
    id: 'text',
    project_id: 'integer',
    insight_id: 'integer?',
    dashboard_id: 'integer?',
    enabled: 'boolean',
    access_token: 'text',
    settings: 'json',
    created_at: 'time',
    updated_at: 'time',
  },
  alerts: {
    id: 'text',
    project_id: 'integer',
    insight_id: 'integer',
    name: 'text',
    enabled: 'boolean',
    condition: 'text',
    threshold: 'json',
    config: 'json',
    subscribed_users: 'json',
    webhook_url: 'text?',
    webhook_secret: 'text?', // encrypted
    calculation_interval: 'text',
    skip_weekend: 'boolean',
    state: 'text',
    snoozed_until: 'time?',
    last_checked_at: 'time?',
    last_notified_at: 'time?',
    last_value: 'json',
    next_check_at: 'time', // when the next check is due
    created_by_id: 'integer?',
    created_at: 'time',
    updated_at: 'time',
  },
  alert_checks: {
    id: 'text',
    project_id: 'integer',
    alert_id: 'text',
    due_at: 'time',
    created_at: 'time',
    calculated_value: 'json',
    state: 'text',
    error: 'text?',
    targets: 'json', // who is told
  },
  subscriptions: {
    id: 'integer',
    project_id: 'integer',
    insight_id: 'integer?',
    dashboard_id: 'integer?',
    title: 'text?',
    target_type: 'text',
    target_value: 'text',
    webhook_secret: 'text?', // encrypted
    frequency: 'text',
    interval: 'integer',
    byweekday: 'json',
    bysetpos: 'integer?',
    count: 'integer?', // of occurrences
    start_date: 'time',
    until_date: 'time?',
    next_delivery_date: 'time?', // null: over, or paused
    enabled: 'boolean?', // false: paused
    deleted: 'boolean',
    created_by_id: 'integer?',
    created_at: 'time',
    updated_at: 'time',
  },
  /** What an alert or a subscription has to say at one due time. */
  notices: {
    id: 'text',
    project_id: 'integer',
    alert_id: 'text?',
    subscription_id: 'integer?',
    due_at: 'time',
    content: 'json',
    created_at: 'time',
    watch: 'text?', // what owners are notified of without having asked; null: an alert or a subscription
  },
  notice_deliveries: {
    id: 'text',
    project_id: 'integer',
    notice_id: 'text',
    alert_id: 'text?',
    subscription_id: 'integer?',
    target_type: 'text',
    target: 'text',
    status: 'text',
    attempts: 'integer',
    due_at: 'time', // of the next attempt
    latest_error: 'text?',
    created_at: 'time',
    last_attempt_at: 'time?',
    delivered_at: 'time?',
    is_test: 'boolean?', // somebody asked for it, beside what is due
    watch: 'text?', // as of its notice
  },
  /** Events that arrived in each hour of the last days, without imports of the past. */
  event_hours: {
    project_id: 'integer',
    since: 'time', // the first event that was counted
    latest_at: 'time',
    latest_hour: 'integer', // since 1970: of the last count
    counts: 'json', // the oldest hour first
    longest_gap: 'json', // between events that came often, and when it was
  },
  /** What the server measures of itself. */
  server_hours: {
    id: 'text',
    checked_at: 'time', // when it was alive last
    up_since: 'time',
    latest_hour: 'integer',
    free_bytes: 'json', // of the disk, in each hour of the last days, the oldest first
  },
  /** Problems that owners are notified of, each with its latest beginning and its end. */
  watch_states: {
    id: 'text',
    project_id: 'integer', // 0: the server
    watch: 'text',
    subject: 'text', // the export, the plugin config; empty: the project
    subject_name: 'text',
    began_at: 'time',
    calm_since: 'time?', // it does not hold any more, perhaps for a moment
    ended_at: 'time?', // null: it goes on
    told_at: 'time?', // when the mails were written; null: nobody gets one
    detail: 'json', // what was measured when it began
    lines: 'json', // what the mail says
  },
  /** Watches that owners have switched off. */
  watch_settings: {
    project_id: 'integer', // 0: the server
    off: 'json', // their names
  },
  /** The last minute, hour or day in which a task of plugins ran. */
  plugin_tasks: { id: 'text', project_id: 'integer', period: 'integer' },
  plugin_jobs: {
    id: 'text',
    project_id: 'integer',
    plugin_config_id: 'integer',
    name: 'text',
    payload: 'json',
    due_at: 'time',
    attempts: 'integer',
  },
  /** Receipts of what was deleted: persons, the values of a property, and what is not kept any longer. The log of activities has who did it, too, but not for as long. */
  deletions: {
    id: 'text',
    project_id: 'integer',
    created_by_id: 'integer?',
    asked_by: 'text', // how the persons were given: ids, distinct_ids, cohort; or property, retention
    cohort_id: 'integer?',
    property: 'text?', // its scope and its name
    asked: 'integer', // ids that were given, or members
    with_events: 'boolean',
    persons: 'integer',
    distinct_ids: 'integer',
    events: 'integer',
    not_found: 'integer',
    is_complete: 'boolean', // false: the cohort has more members
    created_at: 'time',
    finished_at: 'time?', // null: it is at work, or was broken off
  },
  /** When projects that keep something for a limited time remove what is older. A project without a row has not done it yet. */
  retention_runs: {
    id: 'text',
    project_id: 'integer',
    due_at: 'time',
    failures: 'integer',
    latest_error: 'text?',
    ran_at: 'time?',
  },
  /** The backups that this directory makes regularly, by their place. */
  backups: {
    id: 'text',
    due_at: 'time',
    failures: 'integer',
    latest_error: 'text?',
    copy: 'integer?', // the newest
    copied_at: 'time?', // it has everything acknowledged before
    reaches_back_to: 'time?',
    bytes: 'integer?', // in mebibytes
    copies: 'integer?',
    verify_at: 'time',
    verified_at: 'time?', // the copy that was verified last was taken then
    verify_error: 'text?',
  },
  /** Due work that a process does at the moment, or that rests after a failure. */
  leases: {
    id: 'text',
    project_id: 'integer',
    kind: 'text',
    owner: 'text?', // null: it rests
    until: 'time',
    failures: 'integer',
  },
  /** What was imported. */
  imports: {
    id: 'text',
    project_id: 'integer',
    file: 'text',
    format: 'text',
    status: 'text',
    rows: 'integer?',
    unreadable: 'integer?',
    events: 'integer',
    duplicates: 'integer',
    removed_events: 'integer?',
    removed_persons: 'integer?',
    latest_error: 'text?',
    created_by_id: 'integer?', // null: the operator
    created_at: 'time',
    finished_at: 'time?',
    undone_by_id: 'integer?',
    undone_at: 'time?',
  },
  historical_imports: {
    project_id: 'integer',
    source: 'text',
    method: 'text',
    total_events: 'integer?',
    events_per_minute: 'integer?',
    is_approved: 'boolean',
    approved_by: 'text?',
    approved_at: 'time?',
    imported_events: 'integer',
  },
  /** Events of clients of one day, for the limit of a project. */
  event_counts: {
    project_id: 'integer',
    day: 'text',
    events: 'integer',
    refused: 'integer',
    is_told: 'boolean', // the owners, on that day
  },
  /** Mails that members of an organization caused on its latest day with any. */
  mail_counts: {
    organization_id: 'text',
    day: 'text',
    mails: 'integer',
  },
  personal_keys: {
    id: 'text',
    user_id: 'integer',
    label: 'text',
    hash: 'text',
    mask_value: 'text',
    scopes: 'json',
    scoped_teams: 'json',
    scoped_organizations: 'json',
    created_at: 'time',
    last_used_at: 'time?',
    last_rolled_at: 'time?',
  },
  sessions: {
    hash: 'text',
    user_id: 'integer',
    authenticated_at: 'time',
    expires_at: 'time',
    user_agent: 'text?',
    address: 'text?', // of the network from which it began; null: unknown, or from before it was kept
    provider: 'text?', // the identity provider that vouched for the user
  },
  password_links: {
    hash: 'text', // of the secret in the link
    user_id: 'integer',
    is_mailed: 'boolean', // false: made by the operator
    keeps_access: 'boolean?', // the operator knows that the account is used by its owner
    created_at: 'time',
    expires_at: 'time',
  },
  /** Proofs of an address that are on their way, at most one for a user. */
  email_links: {
    hash: 'text', // of the secret in the link
    user_id: 'integer',
    email: 'text', // the present address, or the one that replaces it
    created_at: 'time',
    expires_at: 'time',
    present_hash: 'text?', // of the secret that was mailed to the present address, which confirms the change, too; null: nobody has proven it
    confirmed_at: 'time?', // with the first secret
    present_confirmed_at: 'time?', // with the second one
  },
  /** What authenticator apps of users show: at most one for a user. */
  second_factors: {
    id: 'text',
    user_id: 'integer',
    secret: 'text', // encrypted
    confirmed_at: 'time?', // null: being set up
    last_step: 'integer?', // of the newest code that was accepted: it and earlier ones are used up
    created_at: 'time',
  },
  /** Those that are left: a code is removed when it is used. */
  recovery_codes: {
    hash: 'text', // of the code and its user
    user_id: 'integer',
    created_at: 'time',
  },
  passkeys: {
    id: 'text',
    user_id: 'integer',
    name: 'text',
    credential_id: 'text', // base64url
    public_key: 'text', // COSE, base64url
    counter: 'json', // a number of 32 bits without a sign; 0: the passkey has none
    transports: 'json',
    is_backup_eligible: 'boolean', // it may be on several devices
    is_backed_up: 'boolean',
    created_at: 'time',
    last_used_at: 'time?',
  },
  /** What works once: challenges that a passkey has signed, codes of consents. */
  used_challenges: {
    hash: 'text',
    user_id: 'integer',
    created_at: 'time',
    expires_at: 'time',
  },
  /** Logins that wait for the second factor. They give no rights. */
  pending_logins: {
    hash: 'text', // of the token in the cookie
    user_id: 'integer',
    way: 'text', // how it began
    created_at: 'time',
    expires_at: 'time',
    provider: 'text?', // as of a session
  },
  /** Which user an identity provider means by a subject. */
  identities: {
    id: 'text',
    user_id: 'integer',
    provider: 'text', // `google-oauth2`, or `oidc` or `saml` and the id of a domain
    issuer: 'text',
    subject: 'text',
    created_at: 'time',
    last_used_at: 'time',
  },
  /** With which the identity provider of a domain provisions users: at most one for a domain. */
  scim_tokens: {
    id: 'text',
    organization_id: 'text',
    domain_id: 'text',
    hash: 'text',
    mask_value: 'text',
    created_by_id: 'integer?',
    created_at: 'time',
    last_used_at: 'time?',
  },
  /** What an identity provider says of users whom it provisions. A row stays while the user is deactivated. */
  scim_users: {
    id: 'text',
    organization_id: 'text',
    domain_id: 'text',
    user_id: 'integer',
    external_id: 'text?',
    display_name: 'text?',
    work_email: 'text?', // as it was sent, if it is not the address of the account; used for nothing
    is_deactivated: 'boolean', // does not join by the domain until the provider activates the user
    created_at: 'time',
    updated_at: 'time',
  },
  /** Assertions of SAML that have signed somebody in, as long as they could be used again. */
  used_assertions: {
    hash: 'text',
    expires_at: 'time',
  },
  idempotent_answers: {
    key: 'text',
    user_id: 'integer?',
    request: 'text',
    status: 'integer',
    body: 'json',
    created_at: 'time',
  },
  query_runs: {
    id: 'text',
    project_id: 'integer',
    query_key: 'text?', // of the query, its project and its settings
    task_id: 'text',
    is_complete: 'boolean',
    is_error: 'boolean',
    error_message: 'text?',
    characters: 'integer?', // of its answer, which has a file
    start_time: 'time',
    end_time: 'time?',
    expiration_time: 'time?',
  },
  /** Queries that took long. */
  slow_queries: {
    id: 'text',
    project_id: 'integer',
    kind: 'text',
    form: 'text',
    caller: 'text', // `user 5`, `library`
    user_id: 'integer?',
    outcome: 'text',
    error: 'text?', // its code
    milliseconds: 'integer',
    rows: 'integer?',
    steps: 'json', // its statements and folds, with their seconds
    shape: 'text', // the query without its values
    query: 'text?', // as it was asked; null: too long to be kept
    created_at: 'time', // when it ended
  },
  activity: {
    id: 'text',
    organization_id: 'text?',
    project_id: 'integer?',
    user_id: 'integer?',
    activity: 'text',
    scope: 'text',
    item_id: 'text',
    detail: 'json',
    is_system: 'boolean',
    was_impersonated: 'boolean',
    created_at: 'time',
  },
  counters: { name: 'text', value: 'integer' },
} as const

type Shapes = typeof accountShapes
export type AccountStore = Store<Shapes>
export type AccountTables = WriteAll<Shapes>

export type User = RowOf<Shapes['users']>
export type Organization = RowOf<Shapes['organizations']>
export type Membership = RowOf<Shapes['memberships']>
export type Invite = RowOf<Shapes['invites']>
export type Domain = RowOf<Shapes['domains']>
export type Role = RowOf<Shapes['roles']>
export type RoleMembership = RowOf<Shapes['role_memberships']>
export type ProjectRecord = RowOf<Shapes['projects']>
export type ProjectRole = RowOf<Shapes['project_roles']>
export type ScimToken = RowOf<Shapes['scim_tokens']>
export type ScimUser = RowOf<Shapes['scim_users']>
export type ProjectMembership = RowOf<Shapes['project_memberships']>
export type Insight = RowOf<Shapes['insights']>
export type InsightRefresh = RowOf<Shapes['insight_refreshes']>
export type InsightView = RowOf<Shapes['insight_views']>
export type Dashboard = RowOf<Shapes['dashboards']>
export type DashboardTile = RowOf<Shapes['dashboard_tiles']>
export type Annotation = RowOf<Shapes['annotations']>
export type SavedQuery = RowOf<Shapes['saved_queries']>
export type SavedFilter = RowOf<Shapes['saved_filters']>
export type FeatureFlag = RowOf<Shapes['feature_flags']>
export type ViewerKey = RowOf<Shapes['viewer_keys']>
export type ViewerRevocation = RowOf<Shapes['viewer_revocations']>
export type ProxyRecord = RowOf<Shapes['proxy_records']>
export type BatchExport = RowOf<Shapes['batch_exports']>
export type BatchExportRun = RowOf<Shapes['batch_export_runs']>
export type BatchExportBackfill = RowOf<Shapes['batch_export_backfills']>
export type BatchExportLog = RowOf<Shapes['batch_export_logs']>
export type Plugin = RowOf<Shapes['plugins']>
export type PluginVersionRow = RowOf<Shapes['plugin_versions']>
export type PluginFile = RowOf<Shapes['plugin_files']>
export type PluginConfig = RowOf<Shapes['plugin_configs']>
export type PluginAttachment = RowOf<Shapes['plugin_attachments']>
export type PluginDelivery = RowOf<Shapes['plugin_deliveries']>
export type PluginFailedDelivery = RowOf<Shapes['plugin_failed_deliveries']>
export type SharingLink = RowOf<Shapes['sharing_links']>
export type Alert = RowOf<Shapes['alerts']>
export type AlertCheck = RowOf<Shapes['alert_checks']>
export type Subscription = RowOf<Shapes['subscriptions']>
export type Notice = RowOf<Shapes['notices']>
export type NoticeDelivery = RowOf<Shapes['notice_deliveries']>
export type EventHours = RowOf<Shapes['event_hours']>
export type ServerHours = RowOf<Shapes['server_hours']>
export type WatchState = RowOf<Shapes['watch_states']>
export type PluginTask = RowOf<Shapes['plugin_tasks']>
export type PluginJobRow = RowOf<Shapes['plugin_jobs']>
export type Deletion = RowOf<Shapes['deletions']>
export type RetentionRun = RowOf<Shapes['retention_runs']>
export type BackupRow = RowOf<Shapes['backups']>
export type Lease = RowOf<Shapes['leases']>
export type Import = RowOf<Shapes['imports']>
export type HistoricalImport = RowOf<Shapes['historical_imports']>
export type EventCount = RowOf<Shapes['event_counts']>
export type PersonalKey = RowOf<Shapes['personal_keys']>
export type Session = RowOf<Shapes['sessions']>
export type EmailLink = RowOf<Shapes['email_links']>
export type PasswordLink = RowOf<Shapes['password_links']>
export type Identity = RowOf<Shapes['identities']>
export type SecondFactor = RowOf<Shapes['second_factors']>
export type Passkey = RowOf<Shapes['passkeys']>
export type SlowQuery = RowOf<Shapes['slow_queries']>
export type QueryRun = RowOf<Shapes['query_runs']>
export type ActivityEntry = RowOf<Shapes['activity']>

/** Never held in memory as a whole. */
export const longTables: readonly (keyof Shapes)[] = [
  'activity',
  'insights',
  'insight_views',
  'insight_refreshes',
  'dashboards',
  'dashboard_tiles',
  'saved_queries',
  'saved_filters',
  'viewer_revocations',
  'annotations',
  'idempotent_answers',
  'query_runs',
  'batch_export_runs',
  'batch_export_logs',
  'plugin_files',
  'plugin_versions',
  'plugin_attachments',
  'plugin_failed_deliveries',
  'alert_checks',
  'notices',
  'notice_deliveries',
  'plugin_jobs',
  'leases',
  'deletions',
  'imports',
  'slow_queries',
]

/** A viewer sees and asks, and changes nothing but the own account. Null, not 0, is no membership. */
export const level = { viewer: 0, member: 1, admin: 8, owner: 15 } as const
export type LevelName = keyof typeof level
export const levels = [level.viewer, level.member, level.admin, level.owner] as const
/** Of members whom nobody has given a level: those who join because their domain says so. */
export const lowestLevel = level.viewer
