import type { Chart } from './chart.ts'
import { boxesSeries, keyOf } from './draw/boxes.ts'
import { currentName } from './draw/funnel.ts'
import { markOf, pieTexts } from './draw/pie.ts'
import type { LegendItem } from './sheet.ts'

// What a legend names, and a chart of some of it.

export interface NamedPart extends LegendItem {
  /** The same in the next answer. */
  readonly key: string
  /** What the shapes of the drawing are marked with: `data-series`. */
  readonly mark: string
  /** Beside the name; empty: nothing. */
  readonly note: string
}

const keyFor = (label: string, isPrevious: boolean) => `${isPrevious ? 'previous ' : ''}${label}`

/** Empty: the chart has no legend. */
export function namedParts(chart: Chart): readonly NamedPart[] {
  const part = (item: LegendItem, mark: string, note = ''): NamedPart => ({
    label: item.label,
    color: item.color,
    isPrevious: item.isPrevious,
    key: keyFor(item.label, item.isPrevious),
    mark,
    note,
  })
  switch (chart.kind) {
    case 'lines':
    case 'bars':
      return chart.series.map((one) => part(one, String(one.row)))
    case 'boxes':
      return boxesSeries(chart).map((one) => part(one, keyOf(one)))
    case 'funnel':
      return chart.groups.length > 1 || chart.groups[0]?.label
        ? chart.groups.map((one) => part({ ...one, label: one.label ?? currentName }, String(one.row)))
        : []
    case 'pie': {
      const texts = pieTexts(chart)
      return chart.items.map((one, i) => part(one, markOf(one), texts[i]))
    }
    default:
      return []
  }
}

/** The chart without some of its parts. */
export function withoutParts<C extends Chart>(chart: C, hidden: ReadonlySet<string>): C {
  if (hidden.size === 0) return chart
  const isShown = ({ label, isPrevious }: { label: string | null; isPrevious: boolean }) =>
    !hidden.has(keyFor(label ?? currentName, isPrevious))
  const shown = (): Chart => {
    switch (chart.kind) {
      case 'lines':
      case 'bars':
        return { ...chart, series: chart.series.filter(isShown) }
      case 'boxes':
        return { ...chart, boxes: chart.boxes.filter(isShown) }
      case 'funnel':
        return { ...chart, groups: chart.groups.filter(isShown) }
      case 'pie':
        return { ...chart, items: chart.items.filter(isShown) }
      default:
        return chart
    }
  }
  return shown() as C
}
