import { readableSeries } from '../../service/pictures/readable.ts'
import { listIn, objectIn, type SeriesNode, textIn } from '../insights/query.ts'
import type { Query } from '../lib/api.ts'
import { capital } from '../lib/format.ts'
import type { Option } from '../lib/option.ts'

// Which numbers of an insight an alert can compare.

export interface AlertNumbers {
  /** At least one. */
  readonly options: readonly Option[]
  readonly unit: '' | '%' | 's'
  /** There is one for each interval, so that it can be compared with the one before. */
  readonly hasIntervals: boolean
}

const one: readonly Option[] = [{ value: '0', label: 'The number' }]
const seriesName = ({ custom_name, name, event, math, math_property }: SeriesNode): string =>
  custom_name || readableSeries(event ?? name ?? '', math ?? '', math_property ?? '')
const numbered = (names: readonly string[], first = 0): readonly Option[] =>
  names.map((name, i) => ({ value: String(i + first), label: names.length > 1 ? `${i + 1}: ${name}` : name }))
const seriesOf = (query: Query): readonly string[] => listIn<SeriesNode>(query, 'series').map(seriesName)

const totals = ['BoldNumber', 'ActionsPie', 'ActionsBarValue', 'ActionsTable', 'WorldMap']
const spread = ['CalendarHeatmap', 'BoxPlot', 'SlopeGraph']

/** Null: its answer has no number to compare. */
export function alertNumbers(query: Query): AlertNumbers | null {
  switch (query.kind) {
    case 'TrendsQuery': {
      const filter = objectIn(query, 'trendsFilter')
      if (spread.includes(textIn(filter, 'display'))) return null
      const formulas = listIn<{ formula?: unknown; custom_name?: unknown }>(filter, 'formulaNodes').map(({ formula, custom_name }) =>
        String(custom_name || formula),
      )
      const options = numbered(formulas.length > 0 ? formulas : seriesOf(query))
      return { options: options.length > 0 ? options : one, unit: '', hasIntervals: !totals.includes(textIn(filter, 'display')) }
    }
    case 'FunnelsQuery': {
      const shape = textIn(objectIn(query, 'funnelsFilter'), 'funnelVizType') || 'steps'
      if (shape === 'time_to_convert') return { options: one, unit: 's', hasIntervals: false }
      if (shape === 'trends') return { options: one, unit: '%', hasIntervals: true }
      const [, ...steps] = seriesOf(query)
      const options = steps.map((name, i) => ({ value: String(i + 1), label: `Conversion to step ${i + 2}: ${name}` }))
      return { options: [{ value: '0', label: 'Conversion of the whole funnel' }, ...options], unit: '%', hasIntervals: false }
    }
    case 'RetentionQuery': {
      const filter = objectIn(query, 'retentionFilter')
      const period = (textIn(filter, 'period') || 'Day').toLowerCase()
      const last = Math.max(1, (Number(textIn(filter, 'totalIntervals')) || 7) - 1)
      const options = Array.from({ length: last }, (_, i) => ({ value: String(i + 1), label: `Came back in ${period} ${i + 1}` }))
      return { options, unit: '%', hasIntervals: false }
    }
    case 'StickinessQuery':
      return { options: numbered(seriesOf(query).map((name) => `Mean active intervals: ${name}`)), unit: '', hasIntervals: false }
    case 'LifecycleQuery':
      return {
        options: ['new', 'returning', 'resurrecting', 'dormant'].map((status, i) => ({
          value: String(i),
          label: `${capital(status)} people`,
        })),
        unit: '',
        hasIntervals: true,
      }
    case 'HogQLQuery':
    case 'SqlLikeQuery':
      return {
        options: Array.from({ length: 5 }, (_, i) => ({
          value: String(i),
          label: i === 0 ? 'First column of numbers' : `Column of numbers ${i + 1}`,
        })),
        unit: '',
        hasIntervals: true,
      }
    default:
      return null
  }
}
