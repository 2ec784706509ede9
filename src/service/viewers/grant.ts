import * as z from 'zod'
import { tokenLength, withinJson } from '../../limits/bounds.ts'
import { ownKinds } from '../../queries/viewer/kinds.ts'
import { mostPersonProperties, mostViewerFilters } from '../../queries/viewer/schema.ts'
import { check, choice, integer, jsonList, listOf, text } from '../accounts/fields.ts'
import { invalid } from '../accounts/refusals.ts'
import { checkFilters } from '../saved/dashboard-fields.ts'

// What a token lets its viewer see, and for how long.

const mostInsights = 100
const mostOfTheme = 40
const shortestSeconds = 10
export const longestSeconds = 30 * 86_400
const usualSeconds = 3600

const variable = /^--waymark-[a-z0-9-]{1,40}$/
const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

export const viewerGrant = z.object({
  filter: jsonList('config')
    .refine((list) => list.length > 0, { error: 'A viewer needs at least one filter: without one it would see all events.' })
    .refine((list) => list.length <= mostViewerFilters, { error: `At most ${mostViewerFilters} filters.` })
    .meta({ description: 'Property filters as in `properties` of a query. All queries of the viewer get them' }),
  insights: listOf(integer(1))
    .refine((list) => list.length <= mostInsights, { error: `At most ${mostInsights} insights.` })
    .optional()
    .meta({ description: 'The ids of insights that it may see' }),
  dashboard: integer(1).optional().meta({ description: 'The id of a dashboard, all of whose tiles it may see' }),
  kinds: listOf(choice(ownKinds)).optional().meta({ description: 'The kinds of queries that it may ask itself' }),
  personProperties: listOf(text({ max: 200 }))
    .refine((list) => list.length <= mostPersonProperties, { error: `At most ${mostPersonProperties} properties.` })
    .optional()
    .meta({ description: 'Properties of persons that its own queries may read; otherwise none' }),
  theme: withinJson(
    z.record(z.string().regex(variable, { error: 'A variable of a theme begins with --waymark-.' }), text({ max: 100 })),
    'json',
  )
    .refine((given) => Object.keys(given).length <= mostOfTheme, { error: `At most ${mostOfTheme} variables.` })
    .optional()
    .meta({ description: 'CSS variables of the charts, as `--waymark-background`' }),
})
export type ViewerGrant = z.output<typeof viewerGrant>

export const viewerTokenInput = viewerGrant.extend({
  expiresIn: z
    .union([z.number(), z.string().max(tokenLength)])
    .optional()
    .meta({ description: 'Seconds, or a text as `15m`, `1h`, `7d`. Default `1h`, at most `30d`' }),
})
export type ViewerTokenInput = z.input<typeof viewerTokenInput>
export const viewerTokenFields: readonly string[] = Object.keys(viewerTokenInput.shape)

function secondsOf(given: number | string | undefined): number {
  if (given === undefined) return usualSeconds
  const [, count, unit] = typeof given === 'string' ? (/^(\d{1,9})([smhd]?)$/.exec(given.trim()) ?? []) : []
  const seconds = typeof given === 'number' ? given : Number(count) * units[unit || 's']!
  if (!Number.isInteger(seconds) || seconds < shortestSeconds || seconds > longestSeconds)
    throw invalid(
      `Expected seconds, or a text as 15m, 1h, 7d, from ${shortestSeconds} seconds to ${longestSeconds / 86_400} days; got ${JSON.stringify(given)}.`,
      'expiresIn',
    )
  return seconds
}

/** What somebody asks for who may make tokens. */
export function checkedToken(body: unknown): { readonly grant: ViewerGrant; readonly seconds: number } {
  const { expiresIn, ...grant } = check(viewerTokenInput, body)
  checkFilters({ properties: grant.filter }, 'filter')
  if (!grant.insights?.length && grant.dashboard === undefined && !grant.kinds?.length)
    throw invalid('A token needs something that its viewer may see: insights, dashboard or kinds.', 'insights', 'required')
  return { grant, seconds: secondsOf(expiresIn) }
}
