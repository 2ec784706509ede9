import { alias, call, field, from, groupBy, lambda, literal, select } from '../../language/ast/build.ts'
import type { Expr, Select } from '../../language/ast/nodes.ts'
import type { PathsPlan } from './plan.ts'
import { skippedItem, visits } from './visits.ts'

// The same for an engine that folds lists: one list of events per actor, split into sessions, cut, and opened again. There it takes a third of the time
// of window functions.

const item = { at: 1, record: 2, text: 3 } as const
const part = (tuple: Expr, index: number): Expr => call('tupleElement', tuple, literal(index))
const over = (name: string, params: readonly string[], body: (...items: Expr[]) => Expr, ...lists: readonly Expr[]): Expr =>
  call(name, lambda(params, body(...params.map((param) => field(param)))), ...lists)
const length = (list: Expr): Expr => call('length', list)
const slice = (list: Expr, first: Expr, count?: Expr): Expr => call('arraySlice', list, first, ...(count ? [count] : []))
const minus = (a: Expr, b: Expr): Expr => call('minus', a, b)
const plus = (a: Expr, b: Expr): Expr => call('plus', a, b)
const one = literal(1)
const timesOf = (list: Expr): Expr => over('arrayMap', ['v'], (v) => part(v, item.at), list)
const textsOf = (list: Expr): Expr => over('arrayMap', ['v'], (v) => part(v, item.text), list)
const placeOf = (text: string, list: Expr): Expr => call('indexOf', textsOf(list), literal(text))
const isThere = (place: Expr): Expr => call('greater', place, literal(0))

const step = (columns: Readonly<Record<string, Expr>>, source: Select, where: Expr | null = null): Select =>
  select({
    columns: [field('actor'), ...Object.entries(columns).map(([name, expr]) => alias(expr, name))],
    from: from(source, 'lists'),
    where,
  })

/** One row per session: its items without repetition, the last one of each run. */
function sessions(plan: PathsPlan): Select {
  const lists = select({
    columns: [
      field('actor'),
      alias(call('arraySort', call('groupArray', call('tuple', field('at'), field('record'), field('item')))), 'visited'),
    ],
    from: from(visits(plan), 'visits_found'),
    groupBy: groupBy(field('actor')),
  })
  const visited = field('visited')
  const isLate = (_: Expr, since: Expr) => call('greaterOrEquals', since, literal(plan.gap))
  const split = step(
    { session: call('arrayJoin', over('arraySplit', ['v', 'since'], isLate, visited, call('arrayDifference', timesOf(visited)))) },
    lists,
  )
  const session = field('session')
  const next = call('arrayPushBack', slice(textsOf(session), literal(2)), literal(''))
  const isLast = (v: Expr, following: Expr) => call('notEquals', part(v, item.text), following)
  return step({ items: over('arrayFilter', ['v', 'following'], isLast, session, next) }, split)
}

/** The part of each path that is asked for. */
function cut(plan: PathsPlan): Select {
  const { start, end } = plan
  const most = literal(plan.steps)
  const items = field('items')
  const all = sessions(plan)
  if (start === null && end === null) return step({ path: slice(items, one, most) }, all)
  const place = field('place')
  if (end === null) return step({ path: slice(items, place, most) }, step({ items, place: placeOf(start!, items) }, all), isThere(place))
  if (start === null) {
    const before = call('greatest', minus(place, most), literal(0))
    return step(
      { path: slice(items, plus(before, one), minus(place, before)) },
      step({ items, place: placeOf(end, items) }, all),
      isThere(place),
    )
  }
  const begun = step({ items: slice(items, place) }, step({ items, place: placeOf(start, items) }, all), isThere(place))
  const whole = step({ whole: slice(items, one, place) }, step({ items, place: placeOf(end, items) }, begun), isThere(place))
  const half = Math.floor(plan.steps / 2)
  const list = field('whole')
  const middle = call('arrayElement', list, literal(half + 1))
  const gap = call('array', call('tuple', part(middle, item.at), part(middle, item.record), literal(skippedItem)))
  const ends = call('arrayConcat', slice(list, one, literal(half)), gap, slice(list, minus(length(list), literal(half - 1)), literal(half)))
  return step({ path: call('if', call('lessOrEquals', length(list), most), list, ends) }, whole)
}

/** The columns of `windowedSteps`. */
export function foldedSteps(plan: PathsPlan): Select {
  const path = field('path')
  const first = call('arrayElement', path, one)
  const none = call('tuple', part(first, item.at), part(first, item.record), literal(''))
  const before = call('arrayConcat', call('array', none), slice(path, one, minus(length(path), one)))
  const numbered = over(
    'arrayMap',
    ['v', 'last', 'i'],
    (v, last, i) => call('tuple', v, last, i),
    path,
    before,
    call('arrayEnumerate', path),
  )
  const opened = step({ entry: call('arrayJoin', numbered), steps: length(path) }, cut(plan), isThere(length(path)))
  const [own, last] = [part(field('entry'), 1), part(field('entry'), 2)]
  return step(
    {
      item: part(own, item.text),
      step: part(field('entry'), 3),
      source: part(last, item.text),
      took: minus(part(own, item.at), part(last, item.at)),
      steps: field('steps'),
    },
    opened,
  )
}
