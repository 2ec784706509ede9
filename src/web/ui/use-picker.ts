import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import { alike, type Choice, type ChoiceGroup, exactly, found, rankOf } from '../lib/matching.ts'
import { noteRecent, recentNames } from '../lib/recent.ts'

// What a picker does: which choices its list has, which of them Enter takes, and what becomes of what was typed.

export interface PickerProps<T> {
  /** Of the text field, for a label outside. */
  readonly id?: string
  readonly label: string
  /** How the present choice reads; empty: nothing is chosen. */
  readonly text: string
  /** The name of the present choice, where the text is not it. */
  readonly name?: string
  readonly placeholder?: string
  readonly choices: readonly Choice<T>[]
  onChoose(of: T): void
  /** What was typed can be chosen as well: before or after what is found. */
  readonly typed?: { readonly take: (text: string) => void; readonly place: 'first' | 'last' }
  onTyping?(text: string): void
  /** Choices that fit what was typed are being read. */
  readonly isReading?: boolean
  /** What was chosen last is remembered under this name. */
  readonly recent?: string
  /** Several are chosen one after another. */
  readonly isMany?: boolean
}

/** Null: what was typed. */
interface Row<T> {
  readonly id: string
  readonly choice: Choice<T> | null
}

const recentTitle = 'Recent'
/** In a shorter list everything is in sight. */
const longList = 8
const pageOfRows = 8

const keyOf = ({ group, name }: Choice): string => `${group} ${name}`

/** The latest choices first, but for what stands above all groups. */
function withRecent<T>(
  groups: readonly ChoiceGroup<T>[],
  choices: readonly Choice<T>[],
  names: readonly string[],
): readonly ChoiceGroup<T>[] {
  const latest = names.flatMap((name) => choices.find((one) => keyOf(one) === name) ?? [])
  if (latest.length === 0 || choices.length <= longList) return groups
  const [first, ...rest] = groups
  const group = { title: recentTitle, choices: latest, more: 0 }
  return first?.title === '' ? [first, group, ...rest] : [group, ...groups]
}

export function usePicker<T>(props: PickerProps<T>) {
  const { text, name = text, choices, typed: free, isReading = false, recent, isMany = false, onTyping } = props
  const [isOpen, setOpen] = useState(false)
  /** Null: nothing has been typed since it was opened. */
  const [typed, setTyped] = useState<string | null>(null)
  const [at, setAt] = useState(0)
  const [isWaiting, setWaiting] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const id = useId()

  const offered = (typed: string) =>
    recent !== undefined && typed.trim() === '' ? withRecent(found(choices, typed), choices, recentNames(recent)) : found(choices, typed)
  const groups = useMemo(() => (isOpen ? offered(typed ?? '') : []), [isOpen, choices, typed])
  const own = typed !== null && typed.trim() !== '' && free && !exactly(choices, typed) ? typed.trim() : null
  const rows = useMemo(() => {
    const ofChoices: readonly Row<T>[] = groups.flatMap(({ choices }, g) => choices.map((choice, i) => ({ id: `${id}-${g}-${i}`, choice })))
    const ofTyped: readonly Row<T>[] = own === null ? [] : [{ id: `${id}-own`, choice: null }]
    return free?.place === 'first' ? [...ofTyped, ...ofChoices] : [...ofChoices, ...ofTyped]
  }, [groups, own])
  const active = rows[Math.min(at, rows.length - 1)]

  const open = () => {
    if (isOpen) return
    const all = offered('').flatMap(({ choices }) => choices)
    setAt(Math.max(0, name === '' ? 0 : all.findIndex((one) => one.name === name)))
    setOpen(true)
  }
  const startAgain = () => {
    if (typed !== null) onTyping?.('')
    setTyped(null)
    setWaiting(false)
    setAt(0)
  }
  const close = () => {
    startAgain()
    setOpen(false)
  }
  const chosen = isMany ? startAgain : close
  const choose = (choice: Choice<T>) => {
    if (recent !== undefined && choice.group !== '') noteRecent(recent, keyOf(choice))
    chosen()
    props.onChoose(choice.of)
  }
  const takeTyped = (text: string) => {
    chosen()
    free?.take(text)
  }
  const take = (row: Row<T> | undefined) => {
    if (row?.choice) choose(row.choice)
    else if (row && own !== null) takeTyped(own)
  }
  useEffect(() => {
    // Enter was pressed before the choices that fit were there.
    if (isWaiting && !isReading) take(rows[0])
  }, [isWaiting, isReading, rows])
  useEffect(() => {
    // What is typed next begins a new search.
    if (!isOpen && document.activeElement === field.current) field.current?.select()
  }, [isOpen, text])
  useEffect(() => {
    if (isOpen && active) document.getElementById(active.id)?.scrollIntoView({ block: 'nearest' })
  }, [isOpen, active?.id])

  const enter = () => {
    const exact = typed === null || at > 0 ? undefined : exactly(choices, typed)
    if (exact) choose(exact)
    else if (isReading && typed?.trim() && at === 0) setWaiting(true)
    else take(active)
  }
  /** Something is what was typed, and not only alike. */
  const isFound = () => typed !== null && typed.trim() !== '' && choices.some((one) => (rankOf(one, typed) ?? alike) < alike)
  /** What was typed counts if it is a choice, or can be nothing else; otherwise the choice stays what it was. */
  const leave = () => {
    const exact = typed === null ? undefined : exactly(choices, typed)
    if (exact) choose(exact)
    else if (own !== null && (free?.place === 'first' || isMany || !isFound())) takeTyped(own)
    else if (typed?.trim() === '' && text !== '') {
      const none = choices.find((one) => one.name === '')
      if (none) choose(none)
    }
    close()
  }
  const move = (by: number) => {
    if (!isOpen) return open()
    const next = Math.min(at, rows.length - 1) + by
    setAt(Math.abs(by) === 1 ? (next + rows.length) % Math.max(1, rows.length) : Math.max(0, Math.min(rows.length - 1, next)))
  }
  const onKey = (event: KeyboardEvent) => {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: pageOfRows, PageUp: -pageOfRows }[event.key]
    if (steps !== undefined) move(steps)
    else if (event.key === 'Enter' && isOpen) enter()
    else if (event.key === 'Escape' && isOpen) close()
    else if (event.key === 'Tab')
      return isFound() && !isReading ? enter() : undefined // and to the next field
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const onInput = (value: string) => {
    setTyped(value)
    setAt(0)
    setOpen(true)
    onTyping?.(value)
  }
  return { id, field, isOpen, typed, groups, own, active, isEmpty: rows.length === 0, open, choose, takeTyped, leave, onKey, onInput }
}
