import type { EventLists } from '../lists/event-lists.ts'
import type { Selection, SelectionPart } from '../lists/selections.ts'
import { type EventBits, type ListView, listView, type Matching } from './fold.ts'
import { bitsOf } from './matches.ts'
import { selectionFold } from './selection.ts'

// Selections that follow their lists: the events of persons whose lists have changed are found again, where they are.

/** Persons who came after a selection was made are found anew each time. */
const mostNew = 1 << 12

/** What the name of an event decides. Columns may lack the values of new events. */
export const isOfNames = ({ scope, bits, further }: Matching): boolean =>
  [scope, bits, further].every((one: EventBits | null) => !one || one.flags.length === 0)

/** Null: the selection has no room. Its arrays are changed in place. */
export function reselected(
  selection: Selection,
  lists: EventLists,
  persons: Iterable<number>,
  conditions: Matching,
  made: number,
): Selection | null {
  const view = listView({ lists, order: null })
  if (view.persons - made > mostNew) return null
  let hasNew = view.persons > selection.at(-1)!.to
  for (const person of persons) {
    const part = selection.find(({ from, to }) => person >= from && person < to)
    if (!part || part.from >= made) hasNew = true
    else if (!place(part, person - part.from, found(view, person, conditions))) return null
  }
  if (!hasNew) return selection
  const old = selection.filter(({ from }) => from < made)
  return [...old, ...completed(selectionFold.run(view, conditions, made, view.persons))]
}

interface Found {
  readonly index: number[]
  readonly bits: number[]
  readonly further: number[]
  readonly time: number[]
}

function found({ start, end, event, time }: ListView, person: number, { scope, bits, further }: Matching): Found {
  const rows: Found = { index: [], bits: [], further: [], time: [] }
  for (let i = start[person]!; i < end[person]!; i++) {
    const id = event[i]!
    if (scope !== null && (bitsOf(scope, id, i, person) & 1) === 0) continue
    const mask = bitsOf(bits, id, i, person)
    const more = further === null ? 0 : bitsOf(further, id, i, person)
    if ((mask | more) === 0) continue
    rows.index.push(i)
    rows.bits.push(mask)
    rows.further.push(more)
    rows.time.push(time[i]!)
  }
  return rows
}

/** False: there is no room. */
function place(part: SelectionPart, person: number, { index, bits, further, time }: Found): boolean {
  const { length } = index
  if (part.bits.BYTES_PER_ELEMENT === 1 && bits.some((mask) => mask >>> 8 !== 0)) return false
  const [from, to] = [part.start[person]!, part.end[person]!]
  if (length > part.room[person]!) {
    const room = length + 2 + (length >> 2)
    if (part.used + room > part.index.length) return false
    part.time.fill(Number.NEGATIVE_INFINITY, from, to)
    part.start[person] = part.used
    part.room[person] = room
    part.used += room
  }
  const first = part.start[person]!
  part.index.set(index, first)
  part.bits.set(bits, first)
  part.further?.set(further, first)
  part.time.set(time, first)
  part.end[person] = first + length
  if (first === from && length < to - from) part.time.fill(Number.NEGATIVE_INFINITY, first + length, to)
  return true
}

function completed<R>(steps: Generator<void, R, void>): R {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
