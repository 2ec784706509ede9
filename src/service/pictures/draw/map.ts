import type { Chart, MapValue } from '../chart.ts'
import { numberText } from '../format.ts'
import { element, type Markup } from '../markup.ts'
import { type Area, box, type Drawn, fitted, label, textWidth } from '../sheet.ts'
import type { World } from '../world.ts'

type WorldMap = Extract<Chart, { kind: 'map' }>

/** Of the shapes in world.ts. */
export const worldSize = { width: 2000, height: 880 } as const
const legendHeight = 34

/** Square roots: otherwise a few large countries would make all others alike. */
const shadeOf = (value: number, largest: number): number => (value > 0 && largest > 0 ? Math.sqrt(value / largest) : 0)
const opacityOf = (shade: number): number => 0.15 + 0.85 * shade

const isOnMap = ({ code }: MapValue, { shapes, points }: World): boolean =>
  code !== null && (Object.hasOwn(shapes, code) || Object.hasOwn(points, code))

interface MapGeometry {
  readonly x: number
  readonly y: number
  readonly scale: number
  /** With the legend. */
  readonly height: number
}

/** As wide as there is room, and never higher. */
export function mapGeometry({ left, right, top, bottom }: Area): MapGeometry {
  const scale = Math.max(0, Math.min((right - left) / worldSize.width, (bottom - top - legendHeight) / worldSize.height))
  return { x: (left + right - worldSize.width * scale) / 2, y: top, scale, height: worldSize.height * scale + legendHeight }
}

/** Countries: the more, the stronger. */
export function drawMap({ places, format }: WorldMap, area: Area, world: World): Drawn {
  const { x, y, scale, height } = mapGeometry(area)
  const byCode = new Map(places.flatMap((place) => (place.code === null ? [] : [[place.code, place] as const])))
  const largest = Math.max(0, ...places.filter((place) => isOnMap(place, world)).map(({ value }) => value))
  const attributes = (code: string | null) => {
    const place = code === null ? undefined : byCode.get(code)
    const shade = shadeOf(place?.value ?? 0, largest)
    return {
      class: `border ${shade > 0 ? 'shade' : 'track'}`,
      'fill-opacity': shade > 0 ? opacityOf(shade) : null,
      'stroke-width': 0.6,
      'vector-effect': 'non-scaling-stroke',
      'data-pick': place?.row ?? null,
    }
  }
  const shape = (code: string | null, d: string): Markup => element('path', { d, ...attributes(code) })
  const dots = Object.entries(world.points).flatMap(([code, [cx, cy]]): Markup[] =>
    byCode.has(code) ? [element('circle', { cx, cy, r: 4 / Math.max(scale, 0.01), ...attributes(code) })] : [],
  )
  const countries = [...world.land.map((d) => shape(null, d)), ...Object.entries(world.shapes).map(([code, d]) => shape(code, d)), ...dots]
  const most = numberText(largest, format)
  const elsewhere = places
    .filter((place) => !isOnMap(place, world))
    .map((place) => `${place.label} ${numberText(place.value, format)}`)
    .join(', ')
  const legendTop = y + height - legendHeight + 12
  const room = area.right - area.left - legendWidth(most)
  return {
    nodes: [
      element('g', { transform: `translate(${x} ${y}) scale(${scale})` }, countries),
      ...drawLegend(area.left, legendTop, most),
      ...(elsewhere === '' || room < 120
        ? []
        : [label(fitted(`Not on the map: ${elsewhere}`, room), area.right, legendTop + 11, { anchor: 'end', className: 'faint' })]),
    ],
    height,
  }
}

const steps = 5
const stepWidth = 28
const legendWidth = (most: string) => textWidth(`0${most}`) + steps * stepWidth + 40

function drawLegend(left: number, top: number, most: string): Markup[] {
  const from = left + textWidth('0') + 6
  const boxes = Array.from({ length: steps }, (_, i) =>
    box(
      { left: from + i * stepWidth, right: from + (i + 1) * stepWidth, top, bottom: top + 12 },
      { class: 'shade', 'fill-opacity': opacityOf((i + 1) / steps) },
    ),
  )
  const faint = { className: 'faint' }
  return [label('0', left, top + 11, faint), ...boxes, label(most, from + steps * stepWidth + 6, top + 11, faint)]
}
