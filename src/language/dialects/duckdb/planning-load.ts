import type { PlanningLoad } from '../dialect.ts'

// How much work DuckDB's planner has. The planner ignores the time limit and interrupts, so the work is estimated from the SQL before DuckDB
// gets it. The weights are measured (DuckDB 1.5): an expression is visited once for each level of nesting, a lambda inside a lambda twice, an
// argument of a macro as often as the macro uses it. Each aggregate with DISTINCT or FILTER keeps rows of its own, and each window sorts
// separately.

/** How often a DuckDB macro uses its arguments. */
export const macroUses: Readonly<Record<string, number | undefined>> = Object.assign(Object.create(null), {
  array_to_string: 2,
  nullif: 2,
  round_even: 5,
  split_part: 3,
})

interface Select {
  aggregates: number
  readonly windows: Set<string>
}
interface Frame {
  /** The depth of the parenthesis around a SELECT, where the nesting of expressions starts again. */
  base: number
  weight: number
  select: Select
  readonly start: number
  readonly opener: string
  cases: number
}

const most = 1e15

const isWordStart = (code: number) => (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95
const isInWord = (code: number) => isWordStart(code) || (code >= 48 && code <= 57)
const [space, doubleQuote, quote] = [32, 34, 39]
const isOpening = (code: number) => code === 40 || code === 91 || code === 123
const isClosing = (code: number) => code === 41 || code === 93 || code === 125

export function planningLoad(sql: string): PlanningLoad {
  let nesting = 0
  const selects: Select[] = []
  const openSelect = (): Select => {
    const select: Select = { aggregates: 0, windows: new Set() }
    selects.push(select)
    return select
  }
  let frame: Frame = { base: 0, weight: 1, select: openSelect(), start: 0, opener: '', cases: 0 }
  const open: Frame[] = []
  const count = () => {
    // The values of a type are no expressions.
    if (frame.opener === 'ENUM') return
    const depth = open.length - frame.base + frame.cases + 1
    nesting = Math.min(most, nesting + depth * depth * frame.weight)
  }
  const keyword = (name: string, start: number) => {
    if (name === 'SELECT') {
      frame.base = open.length
      frame.select = openSelect()
    } else if (name === 'UNION' || name === 'INTERSECT' || name === 'EXCEPT') frame.base = open.length
    else if (name === 'CASE') frame.cases++
    else if (name === 'END') frame.cases--
    else if (name === 'lambda') frame.weight = Math.min(most, frame.weight * 2)
    // `count(DISTINCT x)`, but not SELECT DISTINCT or IS DISTINCT FROM.
    else if (name === 'FILTER' || (name === 'DISTINCT' && frame.opener && start === frame.start + 1)) frame.select.aggregates++
  }
  let lastWord = ''
  for (let i = 0; i < sql.length; ) {
    const code = sql.charCodeAt(i)
    if (code === space) i++
    else if (isWordStart(code)) {
      const start = i
      do i++
      while (isInWord(sql.charCodeAt(i)))
      count()
      lastWord = sql.slice(start, i)
      keyword(lastWord, start)
    } else if (isOpening(code)) {
      open.push(frame)
      const weight = Math.min(most, frame.weight * (macroUses[lastWord] ?? 1))
      frame = { base: frame.base, weight, select: frame.select, start: i, opener: lastWord, cases: frame.cases }
      lastWord = ''
      i++
    } else if (isClosing(code)) {
      if (frame.opener === 'OVER') frame.select.windows.add(sql.slice(frame.start, i))
      frame = open.pop() ?? frame
      lastWord = ''
      i++
    } else {
      count()
      lastWord = ''
      i = code === quote || code === doubleQuote ? endOfQuoted(sql, i) : i + 1
    }
  }
  return {
    nesting,
    selects: selects.length - 1,
    aggregates: selects.reduce((highest, select) => Math.max(highest, select.aggregates), 0),
    windows: selects.reduce((highest, select) => Math.max(highest, select.windows.size), 0),
  }
}

/** The offset after the closing quote of a text or a name; a doubled quote does not close it. */
function endOfQuoted(sql: string, start: number): number {
  const quote = sql[start]!
  for (let i = start + 1; ; i += 2) {
    i = sql.indexOf(quote, i)
    if (i < 0) return sql.length
    if (sql[i + 1] !== quote) return i + 1
  }
}
