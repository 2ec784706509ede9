import { isObject } from '../../../lib/is-object.ts'
import type { ProjectApi, Row } from './api.ts'
import type { Kind, Made } from './made.ts'
import { withNewIds } from './references.ts'

// How a record of each kind is read, and what is sent to make one like it.

export interface KindOfRecord {
  readonly kind: Kind
  /** For the report: `cohorts`. */
  readonly title: string
  rows(source: ProjectApi): AsyncGenerator<Row, void, void>
  /** The body that makes it. Throws `NotMoved` where it names what does not exist yet. */
  body(row: Row, made: Made, source: ProjectApi): Promise<object>
}

const listed = (path: string) => (source: ProjectApi) => source.rows(path)
const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const tagsOf = ({ tags }: Row) => (Array.isArray(tags) ? { tags: tags.filter((tag) => typeof tag === 'string') } : {})
const only = (row: Row, ...names: readonly string[]) =>
  Object.fromEntries(names.filter((name) => row[name] !== undefined && row[name] !== null).map((name) => [name, row[name]]))

/** Actions and cohorts may name each other: those that name what comes later wait for it. */
export const records: readonly KindOfRecord[] = [
  {
    kind: 'actions',
    title: 'actions',
    rows: listed('actions/'),
    body: async (row, made) => ({
      ...only(row, 'name', 'description', 'pinned_at'),
      ...tagsOf(row),
      steps: withNewIds(row.steps ?? [], made),
    }),
  },
  {
    kind: 'cohorts',
    title: 'cohorts',
    rows: listed('cohorts/'),
    body: async (row, made, source) => ({
      ...only(row, 'name', 'description'),
      ...(row.is_static === true
        ? { is_static: true, distinct_ids: await membersOf(row, source) }
        : { filters: withNewIds(row.filters ?? { properties: groupsOf(row) }, made) }),
    }),
  },
  {
    kind: 'feature_flags',
    title: 'feature flags',
    rows: listed('feature_flags/'),
    body: async (row, made) => ({ ...only(row, 'key', 'name', 'active'), ...tagsOf(row), filters: withNewIds(row.filters ?? {}, made) }),
  },
  {
    kind: 'insights',
    title: 'insights',
    rows: listed('insights/?basic=true'),
    body: async (row, made) => ({
      name: text(row.name) || text(row.derived_name),
      ...only(row, 'description', 'favorited', 'saved'),
      ...tagsOf(row),
      ...(isObject(row.query) ? { query: withNewIds(row.query, made) } : { filters: withNewIds(row.filters ?? {}, made) }),
    }),
  },
  {
    kind: 'dashboards',
    title: 'dashboards',
    rows: listed('dashboards/'),
    body: async (row, made, source) => {
      const { tiles, filters } = await source.get(`dashboards/${String(row.id)}/?refresh=force_cache`)
      return {
        ...only(row, 'name', 'description', 'pinned'),
        ...tagsOf(row),
        ...(isObject(filters) && { filters: withNewIds(filters, made) }),
        tiles: (Array.isArray(tiles) ? tiles : []).flatMap((tile: unknown) => (isObject(tile) ? tileOf(tile, made) : [])),
      }
    },
  },
  {
    kind: 'annotations',
    title: 'annotations',
    rows: listed('annotations/'),
    body: async (row, made) => ({
      ...only(row, 'content', 'date_marker', 'scope', 'creation_type'),
      ...(typeof row.dashboard_item === 'number' && { dashboard_item: made.find('insights', row.dashboard_item) ?? null }),
      ...(typeof row.dashboard_id === 'number' && { dashboard_id: made.find('dashboards', row.dashboard_id) ?? null }),
    }),
  },
]

/** A tile whose insight was not moved is left out: the report names the insight. */
function tileOf(tile: Row, made: Made): object[] {
  const shown = only(tile, 'color', 'layouts', 'show_description')
  if (isObject(tile.text)) return [{ ...shown, text: { body: text(tile.text.body) } }]
  const insight = isObject(tile.insight) ? made.find('insights', tile.insight.id) : undefined
  return insight === undefined ? [] : [{ ...shown, insight }]
}

/** The first id of each member, who may have several. */
async function membersOf({ id }: Row, source: ProjectApi): Promise<string[]> {
  const members: string[] = []
  for await (const { distinct_ids: ids } of source.rows(`cohorts/${String(id)}/persons/`)) {
    const first: unknown = Array.isArray(ids) ? ids[0] : undefined
    if (typeof first === 'string') members.push(first)
  }
  return members
}

/** How cohorts were written before: any of some groups, each of which is all of its conditions. */
const groupsOf = ({ groups }: Row): object => ({
  type: 'OR',
  values: (Array.isArray(groups) ? groups : []).map((group: unknown) => ({
    type: 'AND',
    values: isObject(group) && Array.isArray(group.properties) ? group.properties : [],
  })),
})
