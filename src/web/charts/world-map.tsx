import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Chart } from '../../service/pictures/chart.ts'
import { mapGeometry } from '../../service/pictures/draw/map.ts'
import { draw, summaryOf } from '../../service/pictures/draw.ts'
import { numberText } from '../../service/pictures/format.ts'
import type { World } from '../../service/pictures/world.ts'
import { nodesOf } from './nodes.ts'
import type { Picked } from './picked.ts'

// The shapes of the countries are loaded with the first map.

let shapes: Promise<World> | null = null
const loadWorld = () => {
  shapes ??= import('../../service/pictures/world.ts').then(({ world }) => world)
  return shapes
}

function useWorld(): World | null {
  const [world, setWorld] = useState<World | null>(null)
  useEffect(() => {
    loadWorld().then(setWorld, () => {
      shapes = null
    })
  }, [])
  return world
}

interface Props {
  readonly chart: Extract<Chart, { kind: 'map' }>
  readonly title: string
  readonly width: number
  readonly height: number
  onPick?(picked: Picked): void
}

interface Pointed {
  /** Of the places. */
  readonly index: number
  /** In the element. */
  readonly x: number
  readonly y: number
}

export function WorldMap({ chart, title, width, height, onPick }: Props) {
  const world = useWorld()
  const ref = useRef<HTMLDivElement>(null)
  const [pointed, setPointed] = useState<Pointed | null>(null)
  const area = { left: 4, top: 4, right: width - 4, bottom: height }
  const total = Math.ceil(mapGeometry(area).height) + 8
  const nodes = useMemo(() => (world ? draw(chart, area, world).nodes.map(nodesOf) : []), [chart, world, width, height])
  const indexOf = (element: EventTarget | null): number => {
    const row = element instanceof Element ? element.getAttribute('data-pick') : null
    return row === null ? -1 : chart.places.findIndex((place) => place.row === Number(row))
  }
  const follow = (event: PointerEvent) => {
    const index = indexOf(event.target)
    const { left, top } = ref.current!.getBoundingClientRect()
    setPointed(index < 0 ? null : { index, x: event.clientX - left, y: event.clientY - top })
  }
  const choose = (index: number) => {
    const place = chart.places[index]
    if (place) onPick?.({ series: place.row, index: -1 })
  }
  /** To a country by its number, beside its shape if the map has one. */
  const moveTo = (index: number) => {
    const shape = ref.current!.querySelector(`[data-pick="${chart.places[index]!.row}"]`)
    const around = ref.current!.getBoundingClientRect()
    const box = shape?.getBoundingClientRect()
    setPointed({
      index,
      x: box ? (box.left + box.right) / 2 - around.left : width / 2,
      y: box ? (box.top + box.bottom) / 2 - around.top : total - 30,
    })
  }
  const steer = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowRight' || event.key === 'ArrowDown' ? 1 : event.key === 'ArrowLeft' || event.key === 'ArrowUp' ? -1 : 0
    if (by !== 0) {
      event.preventDefault()
      moveTo(Math.max(0, Math.min(chart.places.length - 1, (pointed?.index ?? -1) + by)))
    }
    if ((event.key === 'Enter' || event.key === ' ') && pointed) {
      event.preventDefault()
      choose(pointed.index)
    }
    if (event.key === 'Escape') setPointed(null)
  }
  const place = pointed && chart.places[pointed.index]
  const said = place && `${place.label}: ${numberText(place.value, chart.format)}`
  return (
    <div
      ref={ref}
      class={`world${onPick ? ' can-pick' : ''}`}
      role="slider"
      tabIndex={0}
      aria-label={`World map: ${title}. ${summaryOf(chart)}. Arrow keys move from country to country${onPick ? ', Enter lists the people' : ''}.`}
      aria-valuemin={1}
      aria-valuemax={chart.places.length}
      aria-valuenow={(pointed?.index ?? 0) + 1}
      aria-valuetext={said ?? 'No country chosen'}
      style={{ height: `${total}px` }}
      onPointerMove={follow}
      onPointerLeave={() => setPointed(null)}
      onKeyDown={steer}
      onBlur={() => setPointed(null)}
      onClick={(event) => choose(indexOf(event.target))}
    >
      <svg width={width} height={total} viewBox={`0 0 ${width} ${total}`} aria-hidden="true">
        {nodes}
      </svg>
      {place && pointed && (
        <div class={`tip${pointed.x > width / 2 ? ' to-left' : ''}`} style={{ left: `${pointed.x}px`, top: `${pointed.y}px` }}>
          <strong>{place.label}</strong>
          <br />
          {numberText(place.value, chart.format)}
          {onPick && <div class="note">Click to see people</div>}
        </div>
      )}
    </div>
  )
}
