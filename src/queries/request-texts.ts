import type { Expr, Node, OrderItem } from '../ast/nodes.ts'
import { rewrite } from '../ast/walk.ts'
import { QueryError } from '../errors/errors.ts'
import { isSpanned } from '../errors/span.ts'
import { columnOf, orderOf } from './columns.ts'

// Requests carry lists of expressions as texts, and one statement is made of all of them. What is wrong with it is said of the text that is to
// blame: `attr` names it, and places are places in it.

export interface RequestTexts {
  /** `attr` as errors name fields: `select__0`. */
  expr(text: string, attr: string): Expr
  order(text: string, attr: string): OrderItem
  /** A mistake in the statement as a mistake in one of the texts; anything else unchanged. */
  blame(error: unknown): unknown
}

interface Taken {
  readonly attr: string
  /** Where the text would begin if all stood behind each other; places in the tree count from there. */
  readonly from: number
  readonly to: number
}

/** Behind whatever other expressions of a request, filters among them, have as places. */
const firstPlace = 2 ** 30

export function requestTexts(): RequestTexts {
  const taken: Taken[] = []
  let next = firstPlace
  const take = <T extends Expr | OrderItem>(text: string, attr: string, read: (text: string) => T): T => {
    const own: Taken = { attr, from: next, to: next + text.length + 1 }
    next = own.to
    taken.push(own)
    const shift = own.from + (text.length - text.trimStart().length)
    try {
      const tree = read(text)
      return rewrite(tree, (node: Node) => (isSpanned(node.span) ? ({ ...node, span: moved(node.span, shift) } as Node) : node))
    } catch (error) {
      throw error instanceof QueryError ? placed(error, (span) => moved(span, shift)) : error
    }
  }
  /** Gives each problem the text it is in. `place` says where it is when all texts stand behind each other. */
  const placed = (error: QueryError, place: (span: { start: number; end: number }) => { start: number; end: number }): QueryError => {
    const span = error.span && place(error.span)
    const text = span && taken.find(({ from, to }) => span.start >= from && span.start < to)
    if (!text) return error
    const others = error.others.map((other) => (other instanceof QueryError ? placed(other, place) : other))
    return new QueryError(error.code, error.data, moved(span, -text.from), { cause: error.cause, others, attr: text.attr })
  }
  return {
    expr: (text, attr) => take(text, attr, columnOf),
    order: (text, attr) => take(text, attr, orderOf),
    blame: (error) => (error instanceof QueryError && error.span && isSpanned(error.span) ? placed(error, (span) => span) : error),
  }
}

const moved = ({ start, end }: { start: number; end: number }, by: number) => ({ start: start + by, end: end + by })
