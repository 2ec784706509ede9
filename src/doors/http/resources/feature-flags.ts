import { createHash } from 'node:crypto'
import * as z from 'zod'
import { isObject } from '../../../lib/is-object.ts'
import { check } from '../../../service/accounts/fields.ts'
import type { FeatureFlag } from '../../../service/accounts/records.ts'
import { tagsOf } from '../../../service/accounts/tags.ts'
import { type FlagFilters, flagChange, flagInput } from '../../../service/flags/definition.ts'
import {
  type FeatureFlagAnswer,
  type FlagDefinitionsAnswer,
  type FlagReasonsAnswer,
  featureFlagSchema,
  flagDefinitionsSchema,
  flagReasonsSchema,
} from '../../answers/feature-flags.ts'
import { activityOf, activityOfAll } from '../activity.ts'
import { failures } from '../errors.ts'
import { reasonsOf } from '../flag-values.ts'
import { presentAuthor, time } from '../present.ts'
import { defineRecords } from '../records.ts'
import { pageBounds } from '../requests/pages.ts'
import { type ProjectVisit, Reply } from '../resource.ts'
import { definitionId } from './actions.ts'

const shareOf = ({ groups, multivariate }: FlagFilters): number | null => {
  const [only, ...others] = groups
  return only && others.length === 0 && only.properties.length === 0 && !multivariate?.variants.length
    ? (only.rollout_percentage ?? 100)
    : null
}

/** What clients that compute values need too. */
const definitionOf = ({ id, key, name, filters, active, deleted, version }: FeatureFlag) => ({
  ...{ id, key, name, active, deleted, version },
  filters: filters as Record<string, unknown>,
  ensure_experience_continuity: false,
})

const present = async ({ app }: ProjectVisit, flag: FeatureFlag): Promise<FeatureFlagAnswer> => {
  const share = shareOf(flag.filters as unknown as FlagFilters)
  return {
    ...definitionOf(flag),
    rollout_percentage: share,
    is_simple_flag: share !== null,
    tags: tagsOf(flag),
    created_by: await presentAuthor(app.accounts, flag.created_by_id),
    created_at: time(flag.created_at),
    updated_at: time(flag.updated_at),
  }
}

const placeOf = ({ by, project }: ProjectVisit) => ({ by, project })
const idOf = ({ params }: ProjectVisit): number => definitionId(params.id)

/** By its id or its key. */
const named = async ({ app, project, params }: ProjectVisit): Promise<FeatureFlag | undefined> => {
  const given = params.id ?? ''
  const found = await app.flags.records.byKey(project, given)
  return found ?? (/^\d{1,9}$/.test(given) ? app.flags.records.find(project, Number(given)).catch(() => undefined) : undefined)
}

const truth = (given: string | null): boolean | undefined => (given === null ? undefined : /^(true|1)$/i.test(given))

export const featureFlags = defineRecords({
  name: 'feature_flags',
  summary: 'Feature flags ([flags.md](flags.md))',
  path: '/api/projects/:project_id/feature_flags',
  reach: 'project',
  object: 'feature_flag',
  answer: featureFlagSchema,
  present,
  rows: ({ row, page, create, retrieve, update, replace }) => [
    page({
      summary: 'The flags of the project, the newest first',
      queryParameters: { search: 'Text in the key or the name', active: '`true` or `false`' },
      handle: async ({ app, project, query }) => {
        const [search, active] = [query.get('search'), truth(query.get('active'))]
        return app.flags.records.list({
          where: { project_id: project.id, deleted: false, ...(active !== undefined && { active }) },
          condition: search ? { search: [{ text: search, in: ['key', 'name'] as const }] } : {},
          ...pageBounds(query),
        })
      },
    }),
    create({
      summary: 'Creates a flag; without `filters`, for nobody',
      body: flagInput,
      handle: async (visit) => visit.app.flags.records.create(placeOf(visit), visit.body),
    }),
    row({
      method: 'GET',
      path: 'local_evaluation',
      name: 'local_evaluation',
      summary:
        'The active flags, for client libraries that compute the values themselves; with `If-None-Match`, 304 while they are the same',
      answer: flagDefinitionsSchema,
      queryParameters: { send_cohorts: 'With the conditions of the cohorts that flags name' },
      handle: async ({ app, project, query, request }) => {
        const { flags, groupTypes, cohorts } = await app.flags.definitions(project, query.get('send_cohorts') !== null)
        const body: FlagDefinitionsAnswer = {
          flags: flags.map((flag) => ({ ...definitionOf(flag), team_id: project.id })),
          group_type_mapping: groupTypes,
          cohorts,
        }
        const etag = `"${createHash('sha256').update(JSON.stringify(body)).digest('base64url').slice(0, 27)}"`
        return request.headers.get('if-none-match') === etag ? new Reply(304, undefined, { etag }) : new Reply(200, body, { etag })
      },
    }),
    row({
      method: 'GET',
      path: 'evaluation_reasons',
      name: 'evaluation_reasons',
      summary: 'The value of each active flag for somebody, and why',
      answer: flagReasonsSchema,
      queryParameters: { distinct_id: 'The distinct id of a person', groups: 'JSON: the keys of groups by the names of their types' },
      handle: async ({ app, project, query }): Promise<FlagReasonsAnswer> => {
        const [distinctId, groups] = [query.get('distinct_id'), groupsIn(query.get('groups'))]
        if (!distinctId) throw failures.required('distinct_id')
        const { values } = await app.flags.values(project, { distinctId, groups })
        return reasonsOf(values)
      },
    }),
    retrieve({
      summary: 'One flag',
      handle: async (visit) => visit.app.flags.records.find(visit.project, idOf(visit)),
    }),
    update({
      summary: 'Changes the given fields; `deleted` hides the flag, or shows it again',
      body: flagChange,
      handle: async (visit) => visit.app.flags.records.update(placeOf(visit), idOf(visit), visit.body),
    }),
    replace({
      summary: 'Like PATCH, with the key required',
      body: flagInput,
      handle: async (visit) => visit.app.flags.records.update(placeOf(visit), idOf(visit), check(flagInput, visit.body)),
    }),
    row({
      method: 'GET',
      path: ':id/remote_config',
      name: 'remote_config',
      summary: 'The payload of a flag that is the same for everybody, by its id or its key; null: there is none',
      answer: z.unknown(),
      ignoresParameters: 'Clients send the key of the project along',
      handle: async (visit) => {
        const flag = await named(visit)
        return (flag?.filters as unknown as FlagFilters | undefined)?.payloads?.true ?? null
      },
    }),
    row(activityOfAll('FeatureFlag', 'feature flags')),
    row(activityOf('FeatureFlag', idOf)),
  ],
})

function groupsIn(text: string | null): Record<string, unknown> {
  if (text === null || text === '') return {}
  try {
    const groups: unknown = JSON.parse(text)
    if (isObject(groups)) return groups
  } catch {
    // Said below.
  }
  throw failures.invalid('Expected JSON, as in {"company": "acme"}.', 'groups')
}
