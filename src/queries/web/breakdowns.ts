import { and, call, equals, field, literal, not } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import { cleanedPath } from '../filters/path-cleaning.ts'
import type { QueryContext } from '../kind.ts'
import type { WebBreakdown, WebStatsTableQuery } from './schema.ts'

// What the rows of a table stand for: a value of each event, or of the whole session.

export interface Breakdown {
  /** Fields of the session that it reads. Null: it is computed from the event. */
  readonly fields: readonly string[] | null
  /** One column each. Several parts are a list in the answer. */
  readonly parts: readonly Expr[]
  /** The rows that are shown, over the parts. */
  readonly isShown: (parts: readonly Expr[]) => Expr
}

const none = '(none)'
const property = (name: string): Expr => field('properties', name)
const text = (name: string): Expr => call('toString', property(name))
const hasAll = (parts: readonly Expr[]): Expr => and(...parts.map((part) => call('isNotNull', part)))
const all = () => literal(true)

export const eventPart = (...parts: readonly Expr[]): Breakdown => ({ fields: null, parts, isShown: hasAll })
const ofSession = (name: string, isShown: Breakdown['isShown'] = hasAll): Breakdown => ({ fields: [name], parts: [field(name)], isShown })
const orNone = (...values: readonly Expr[]): Expr => call('coalesce', ...values, literal(none))

/** `name` matters where there is a country or a region of the same name in another one. */
const placeOf = (...names: readonly string[]): Breakdown => ({
  ...eventPart(...names.map(text)),
  isShown: ([, place]) => call('isNotNull', place!),
})

const utm = ['$entry_utm_source', '$entry_referring_domain', '$entry_utm_medium', '$entry_utm_campaign'] as const

const fixed: Readonly<
  Record<Exclude<WebBreakdown, 'Page' | 'InitialPage' | 'ExitPage' | 'PreviousPage' | 'FrustrationMetrics'>, Breakdown>
> = {
  ExitClick: ofSession('$last_external_click_url'),
  ScreenName: eventPart(text('$screen_name')),
  InitialChannelType: ofSession('$channel_type'),
  InitialReferringDomain: ofSession('$entry_referring_domain'),
  InitialUTMSource: ofSession('$entry_utm_source', all),
  InitialUTMCampaign: ofSession('$entry_utm_campaign', all),
  InitialUTMMedium: ofSession('$entry_utm_medium', all),
  InitialUTMTerm: ofSession('$entry_utm_term', all),
  InitialUTMContent: ofSession('$entry_utm_content', all),
  InitialUTMSourceMediumCampaign: {
    fields: utm,
    parts: [
      call('concat', orNone(field(utm[0]), field(utm[1])), literal(' / '), orNone(field(utm[2])), literal(' / '), orNone(field(utm[3]))),
    ],
    isShown: all,
  },
  Browser: eventPart(text('$browser')),
  OS: eventPart(text('$os')),
  Viewport: {
    ...eventPart(call('toFloat', property('$viewport_width')), call('toFloat', property('$viewport_height'))),
    isShown: (parts) => and(hasAll(parts), ...parts.map((part) => not(equals(part, literal(0))))),
  },
  DeviceType: eventPart(text('$device_type')),
  Country: eventPart(text('$geoip_country_code')),
  Region: placeOf('$geoip_country_code', '$geoip_subdivision_1_code', '$geoip_subdivision_1_name'),
  City: placeOf('$geoip_country_code', '$geoip_city_name'),
  // Browsers tell the minutes from local time to UTC: 600 in Honolulu.
  Timezone: eventPart(call('divide', call('minus', literal(0), call('toFloat', property('$timezone_offset'))), literal(60))),
  Language: eventPart(languageOf(text('$browser_language'))),
}

/** `en` of `en-US`. */
function languageOf(tag: Expr): Expr {
  return call('replaceRegexpOne', tag, literal('(?s)-.*$'), literal(''))
}
export const languageTag: Expr = text('$browser_language')

export type Cleaned = (path: Expr) => Expr
export const cleaning = ({ doPathCleaning }: Pick<WebStatsTableQuery, 'doPathCleaning'>, env: QueryContext): Cleaned =>
  doPathCleaning ? (path) => cleanedPath(path, env) : (path) => path

const pageOf = (cleaned: Cleaned): Breakdown => eventPart(cleaned(text('$pathname')))
const pageOfSession = (name: string, cleaned: Cleaned): Breakdown => ({
  fields: [name],
  parts: [cleaned(call('toString', field(name)))],
  isShown: hasAll,
})
/** The page on which the session began. */
export const entryPage = (cleaned: Cleaned): Breakdown => pageOfSession('$entry_pathname', cleaned)
/** The page whose reading this event ends. */
export const pageBefore = (cleaned: Cleaned): Expr => cleaned(text('$prev_pageview_pathname'))

/** Within an app the client tells the page before; on other sites the referrer does. */
function previousPage(cleaned: Cleaned): Breakdown {
  const [before, referrer] = [text('$prev_pageview_pathname'), text('$referrer')]
  const isOwn = equals(call('domain', text('$current_url')), call('domain', referrer))
  return eventPart(call('multiIf', call('isNotNull', before), cleaned(before), isOwn, cleaned(call('path', referrer)), referrer))
}

export function breakdownOf({ breakdownBy }: WebStatsTableQuery, cleaned: Cleaned): Breakdown {
  switch (breakdownBy) {
    case 'Page':
    case 'FrustrationMetrics':
      return pageOf(cleaned)
    case 'InitialPage':
      return entryPage(cleaned)
    case 'ExitPage':
      return pageOfSession('$end_pathname', cleaned)
    case 'PreviousPage':
      return previousPage(cleaned)
    default:
      return fixed[breakdownBy]
  }
}
