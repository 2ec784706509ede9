import { useState } from 'preact/hooks'
import type { NamedPart } from '../../service/pictures/named-parts.ts'
import { filled } from '../../service/pictures/style.ts'

// The names above a chart: a click hides a series or shows it again, “only” leaves it alone, the pointer makes it stand out.

/** Which parts are hidden, and which one stands out; those of an answer before are remembered. */
export function useLegend(parts: readonly NamedPart[]) {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const [lit, setLit] = useState<string | null>(null)
  /** As the first of them is. */
  const toggle = (...keys: readonly string[]) => {
    const isHidden = hidden.has(keys[0]!)
    setHidden(new Set(isHidden ? [...hidden].filter((key) => !keys.includes(key)) : [...hidden, ...keys]))
  }
  const only = (...keys: readonly string[]) => setHidden(new Set(parts.map((one) => one.key).filter((one) => !keys.includes(one))))
  return { hidden, toggle, only, showAll: () => setHidden(new Set()), lit, light: setLit }
}

export const Swatch = ({ color, isPrevious }: Pick<NamedPart, 'color' | 'isPrevious'>) => (
  <svg width="10" height="10" aria-hidden="true">
    <rect width="10" height="10" rx="2" class={filled(color)} opacity={isPrevious ? 0.5 : 1} />
  </svg>
)

export function Legend({
  parts,
  hidden,
  toggle,
  only,
  showAll,
  light,
}: {
  parts: readonly NamedPart[]
} & ReturnType<typeof useLegend>) {
  const isOne = parts.length === 1
  const text = ({ label, note, ...one }: NamedPart) => (
    <>
      <Swatch {...one} />
      <span class="text" title={label}>
        {label}
        {note && `: ${note}`}
      </span>
    </>
  )
  return (
    <ul class="legend" aria-label="Series">
      {parts.map((one) => (
        <li
          key={one.key}
          onPointerEnter={() => light(one.mark)}
          onPointerLeave={() => light(null)}
          onFocusCapture={() => light(one.mark)}
          onBlurCapture={() => light(null)}
        >
          {isOne ? (
            <span class="name">{text(one)}</span>
          ) : (
            <button type="button" class="plain" aria-pressed={!hidden.has(one.key)} onClick={() => toggle(one.key)}>
              {text(one)}
            </button>
          )}
          {parts.length > 2 && (
            <button type="button" class="plain only" aria-label={`Only ${one.label}`} onClick={() => only(one.key)}>
              only
            </button>
          )}
        </li>
      ))}
      {parts.some(({ key }) => hidden.has(key)) && (
        <li>
          <button type="button" class="plain link" onClick={showAll}>
            Show all
          </button>
        </li>
      )}
    </ul>
  )
}
