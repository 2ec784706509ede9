import type { RefObject } from 'preact'
import { useState } from 'preact/hooks'
import { atMark } from '../../service/pictures/at-mark.ts'
import type { Chart } from '../../service/pictures/chart.ts'

/** Where the pointer is over a shape that has something to say. */
interface Pointed {
  readonly mark: string
  readonly x: number
  readonly y: number
}

export function usePointed(ref: RefObject<HTMLElement | null>) {
  const [pointed, setPointed] = useState<Pointed | null>(null)
  const follow = (event: PointerEvent) => {
    const mark = (event.target as Element).getAttribute('data-mark')
    const around = ref.current?.getBoundingClientRect()
    setPointed(mark === null || !around ? null : { mark, x: event.clientX - around.left, y: event.clientY - around.top })
  }
  return { pointed, follow, leave: () => setPointed(null) }
}

export function MarkTip({ chart, pointed, width, canPick }: { chart: Chart; pointed: Pointed; width: number; canPick: boolean }) {
  const words = atMark(chart, pointed.mark)
  if (!words) return null
  return (
    <div class={`tip${pointed.x > width / 2 ? ' to-left' : ''}`} style={{ left: `${pointed.x}px`, top: `${pointed.y + 12}px` }}>
      <strong>{words.title}</strong>
      <table>
        <tbody>
          {words.lines.map(([name, text]) => (
            <tr key={name}>
              {name !== '' && <td>{name}</td>}
              <td class="number">{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {canPick && <span class="note">Click to see people</span>}
    </div>
  )
}
