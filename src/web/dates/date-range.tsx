import { useEffect, useRef, useState } from 'preact/hooks'
import { useProject } from '../lib/session.ts'
import { DatePopup } from './date-popup.tsx'
import { type Range, rangeText } from './ranges.ts'
import './dates.css'

interface Props {
  /** Of the button, before the range. */
  readonly label: string
  /** Empty: what `none` says. */
  readonly value: Range
  /** The range when nothing is chosen; a choice of the list, too. */
  readonly none?: string
  onChange(range: Range): void
}

/** A range of dates: a button that says which, and opens presets, a calendar and fields. */
export function DateRange({ label, value, none, onChange }: Props) {
  const { timezone } = useProject()
  const [isOpen, setOpen] = useState(false)
  const whole = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const text = value.from === '' && value.to === '' ? (none ?? 'Last 7 days') : rangeText(value, timezone)
  const close = (takesFocus: boolean) => {
    setOpen(false)
    if (takesFocus) button.current?.focus()
  }
  useEffect(() => {
    const around = whole.current
    if (!isOpen || !around) return
    const leave = ({ target }: Event) => target instanceof Node && !around.contains(target) && close(false)
    const onEscape = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented) return
      event.stopPropagation()
      event.preventDefault()
      close(true)
    }
    document.addEventListener('pointerdown', leave)
    document.addEventListener('focusin', leave)
    around.addEventListener('keydown', onEscape)
    return () => {
      document.removeEventListener('pointerdown', leave)
      document.removeEventListener('focusin', leave)
      around.removeEventListener('keydown', onEscape)
    }
  }, [isOpen])
  return (
    <div class="dates" ref={whole}>
      <button
        type="button"
        ref={button}
        class="dates-button"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => (isOpen ? close(true) : setOpen(true))}
      >
        <span class="hidden">{label}: </span>
        {text}
      </button>
      {isOpen && (
        <DatePopup
          label={label}
          button={button}
          value={value}
          none={none}
          onChange={onChange}
          onChosen={(range) => {
            onChange(range)
            close(true)
          }}
        />
      )}
    </div>
  )
}
