import * as z from 'zod'
import { checkRequest } from '../../engine/execution/request.ts'
import { WaymarkError } from '../../errors/errors.ts'
import { withOverrides } from '../../queries/filters/overrides.ts'
import { readFilters } from '../../queries/filters/schema.ts'
import { anyJson, flag, integer, jsonList, jsonObject, listOf, text } from '../accounts/fields.ts'
import { invalid } from '../accounts/refusals.ts'
import { tagList } from '../accounts/tags.ts'
import { mostTiles } from './tiles.ts'

/** Of a dashboard, whose tiles are sent together. */
const largestJson = 10_000
const free = () =>
  jsonObject().refine((value) => JSON.stringify(value).length <= largestJson, { error: `It can have ${largestJson} characters as JSON.` })

const body = () => text({ max: 10_000, blank: true })
const tileChange = z.object({
  id: integer(1).nullish().meta({ description: 'The id of a tile of the dashboard; without it, a tile is added' }),
  insight: anyJson('config').optional().meta({ description: 'The id of an insight, or the insight, for a new tile' }),
  text: z.object({ body: body() }, { error: 'Expected an object with a body.' }).nullish(),
  layouts: free().nullish(),
  color: text({ max: 400, blank: true }).nullish(),
  show_description: flag().nullish(),
  filters_overrides: free().nullish(),
  deleted: flag().optional(),
})
export type TileChange = z.infer<typeof tileChange>

export const dashboardChange = z.object({
  name: text({ max: 400, blank: true }).nullable().optional(),
  description: text({ max: 10_000, blank: true }).nullable().optional(),
  pinned: flag().optional(),
  deleted: flag().optional(),
  delete_insights: flag().optional().meta({ description: 'With `deleted`: also the insights that are on no other dashboard' }),
  tags: tagList().optional(),
  filters: free().nullable().optional().meta({ description: '`date_from`, `date_to`, `interval` and `properties`, for every tile' }),
  variables: free().nullable().optional().meta({ description: 'Variables of statements by id, for every tile' }),
  breakdown_colors: jsonList().nullable().optional(),
  data_color_theme_id: integer().nullable().optional(),
  tiles: listOf(tileChange).max(mostTiles).optional(),
})
export const dashboardInput = dashboardChange.extend({
  use_dashboard: integer(1).nullable().optional().meta({ description: 'A dashboard to copy, with its tiles' }),
  duplicate_tiles: flag().optional().meta({ description: 'With `use_dashboard`: its insights are copied too' }),
})

const anyQuery = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: null }] } as const

/** Filters that the queries of tiles can have. */
export function checkFilters(filters: Readonly<Record<string, unknown>>, attr: string): void {
  const { properties = null } = filters
  if (properties !== null && typeof properties !== 'object')
    throw invalid('properties must be a list of filters, or a group of them.', attr)
  try {
    readFilters(properties ?? [])
    const narrowed = withOverrides(anyQuery, { filters, variables: null })
    if (typeof narrowed !== 'string') checkRequest(narrowed)
  } catch (error) {
    throw error instanceof WaymarkError ? invalid(error.detail, attr) : error
  }
}

/** As they are sent. */
export type DashboardInput = z.input<typeof dashboardInput>
export type DashboardChange = z.input<typeof dashboardChange>
