import type { Table } from 'apache-arrow'
import type { ColumnPart, TakeColumns } from '../../core/lists/ports.ts'
import { alias, call, equals, field, from, groupBy, join, select } from '../../language/ast/build.ts'
import type { Query, Source } from '../../language/ast/nodes.ts'
import { doubles } from '../../queries/answers/vectors.ts'
import type { ReadColumnAsk } from '../../queries/kind.ts'

// Columns of texts of many events. The engine finds equal texts, with all its threads: one statement returns each text once, with the record of the first event that
// has it, and another one that record for each event. So no text of an event becomes a JavaScript string, which costs more than everything else.

/** Fewer records are read as they are. */
export const manyRecords = 50_000

type Asks = readonly Pick<ReadColumnAsk, 'type'>[]

const rows = '@rows'
const texts = (i: number) => `@texts_${i}`
const isOfTexts = ({ type }: Pick<ReadColumnAsk, 'type'>) => type === 'codes'

/** `plain`: rows with `at` and `value_…`. */
const textsQuery = (plain: Query, i: number): Query =>
  select({
    columns: [alias(field(`value_${i}`), 'text'), alias(call('min', field('at')), 'first')],
    from: from(plain, rows),
    groupBy: groupBy(field(`value_${i}`)),
  })

/** The same rows, with `first_…` in place of texts. */
function rowsQuery(plain: Query, asks: Asks): Query {
  let source: Source = from(plain, rows)
  for (const [i, ask] of asks.entries())
    if (isOfTexts(ask))
      source = join(source, from(textsQuery(plain, i), texts(i)), equals(field(rows, `value_${i}`), field(texts(i), 'text')))
  const columns = asks.map((ask, i) =>
    isOfTexts(ask) ? alias(field(texts(i), 'first'), `first_${i}`) : alias(field(rows, `value_${i}`), `value_${i}`),
  )
  return select({ columns: [alias(field(rows, 'at'), 'at'), ...columns], from: source })
}

/** Texts by code, and the code of each first record behind `after`. */
interface Texts {
  readonly texts: string[]
  readonly codes: Int32Array
}

export interface CodedRead {
  /** Rows with `at` and `value_…`. */
  readonly plain: Query
  readonly asks: Asks
  readonly after: number
  readonly last: number
  run(query: Query, take: (part: Table) => void | Promise<void>): Promise<void>
  /** Reads a column of other values. */
  other(part: Table, i: number): ColumnPart
}

/** Passes the rows to `take` part by part. */
export async function readCoded({ plain, asks, after, last, run, other }: CodedRead, take: TakeColumns): Promise<void> {
  const known: (Texts | null)[] = []
  for (const [i, ask] of asks.entries()) {
    if (!isOfTexts(ask)) {
      known.push(null)
      continue
    }
    const found: Texts = { texts: [], codes: new Int32Array(last - after + 1) }
    known.push(found)
    await run(textsQuery(plain, i), (part) => {
      const vector = part.getChild('text')!
      for (const [row, first] of doubles(part, 'first').entries()) {
        found.codes[first - after] = found.texts.length
        found.texts.push(String(vector.get(row)))
      }
    })
  }
  await run(rowsQuery(plain, asks), (part) => {
    const parts = known.map((found, i): ColumnPart => {
      if (!found) return other(part, i)
      const firsts = doubles(part, `first_${i}`)
      const values = new Int32Array(firsts.length)
      for (let row = 0; row < firsts.length; row++) values[row] = found.codes[firsts[row]! - after]!
      return { values, texts: found.texts }
    })
    return take(doubles(part, 'at'), parts)
  })
}
