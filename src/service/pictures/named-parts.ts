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

interface Named {
  readonly label: string | null
  readonly isPrevious: boolean
}

/** One event may be counted in several ways, and two series may have one name. */
function keysOf(all: readonly Named[]): readonly string[] {
  const seen = new Map<string, number>()
  return all.map(({ label, isPrevious }) => {
    const name = `${isPrevious ? 'previous ' : ''}${label ?? currentName}`
    const count = seen.get(name) ?? 0
    seen.set(name, count + 1)
    return `${count} ${name}`
  })
}

/** Empty: the chart has no legend. */
export function namedParts(chart: Chart): readonly NamedPart[] {
  const parts = <T extends Named & { readonly color: number }>(
    all: readonly T[],
    mark: (one: T) => string,
    notes: readonly string[] = [],
  ) => {
    const keys = keysOf(all)
    return all.map((one, i): NamedPart => {
      const { label, color, isPrevious } = one
      return { label: label ?? currentName, color, isPrevious, key: keys[i]!, mark: mark(one), note: notes[i] ?? '' }
    })
  }
  switch (chart.kind) {
    case 'lines':
    case 'bars':
      return parts(chart.series, ({ row }) => String(row))
    case 'boxes':
      return parts(boxesSeries(chart), keyOf)
    case 'funnel':
      return chart.groups.length > 1 || chart.groups[0]?.label ? parts(chart.groups, ({ row }) => String(row)) : []
    case 'pie':
      return parts(chart.items, markOf, pieTexts(chart))
    default:
      return []
  }
}

/** The chart without some of its parts. */
export function withoutParts(chart: Chart, hidden: ReadonlySet<string>): Chart {
  if (hidden.size === 0) return chart
  const shown = <T extends Named>(all: readonly T[]): readonly T[] => {
    const keys = keysOf(all)
    return all.filter((_, i) => !hidden.has(keys[i]!))
  }
  switch (chart.kind) {
    case 'lines':
    case 'bars':
      return { ...chart, series: shown(chart.series) }
    case 'boxes': {
      const kept = new Set(shown(boxesSeries(chart)).map(keyOf))
      return { ...chart, boxes: chart.boxes.filter((one) => kept.has(keyOf(one))) }
    }
    case 'funnel':
      return { ...chart, groups: shown(chart.groups) }
    case 'pie':
      return { ...chart, items: shown(chart.items) }
    default:
      return chart
  }
}
