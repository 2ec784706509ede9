import { and } from '../../../language/ast/build.ts'
import type { Expr, Field, Node, Select, TableSource } from '../../../language/ast/nodes.ts'
import { rewrite, walk } from '../../../language/ast/walk.ts'

// A view in the query of an export is replaced by its statement: an export computes each row from one event, so the statement has to do that too.

/** Why a view cannot be exported. */
export class ViewMisfit extends Error {}

interface View {
  readonly name: string
  readonly statement: Select
  readonly source: TableSource
}

const nameOf = (expr: Expr): string | null =>
  expr.kind === 'alias' ? expr.name : expr.kind === 'field' ? (expr.chain.at(-1) ?? null) : null
const bare = (expr: Expr): Expr => (expr.kind === 'alias' ? expr.expr : expr)

const parametersIn = (query: Node): ReadonlySet<string> => {
  const found = new Set<string>()
  walk(query, (node) => {
    if (node.kind === 'lambda') for (const name of node.params) found.add(name)
  })
  return found
}

/** A name of the view is used elsewhere in its own statement, where it may mean the column of the table or the expression. */
function mustNotUseItsNames({ name, statement }: View): void {
  const names = new Set(statement.columns.flatMap((one) => (one.kind === 'alias' ? [one.name] : [])))
  const check = (part: Node) =>
    walk(part, (node) => {
      if (node.kind === 'field' && names.has(node.chain[0]!))
        throw new ViewMisfit(
          `The view ${name} uses its own column ${node.chain[0]}. Write the expression there instead, or export without the view.`,
        )
    })
  for (const column of statement.columns) if (!isItself(column)) check(bare(column))
  if (statement.where) check(statement.where)
}
/** `event AS event` */
const isItself = (column: Expr): boolean =>
  column.kind === 'alias' && column.expr.kind === 'field' && column.expr.chain.length === 1 && column.expr.chain[0] === column.name

/** The query over the table behind the view. */
export function throughView(query: Select, source: TableSource, view: View): Select {
  mustNotUseItsNames(view)
  const { statement, name } = view
  const columns = new Map(statement.columns.flatMap((one) => (nameOf(one) === null ? [] : [[nameOf(one)!, bare(one)] as const])))
  const hasAll = statement.columns.some(({ kind }) => kind === 'star')
  const own = new Set(query.columns.flatMap((one) => (one.kind === 'alias' ? [one.name] : [])))
  const parameters = parametersIn(query)
  const shownAs = source.alias ?? name

  const replaced = (field: Field): Expr => {
    const chain = field.chain.length > 1 && field.chain[0] === shownAs ? field.chain.slice(1) : field.chain
    const [first, ...rest] = chain as [string, ...string[]]
    const column = columns.get(first)
    if (column && parameters.has(first))
      throw new ViewMisfit(`${first} is a column of the view ${name} and a parameter of a lambda. Give the parameter another name.`)
    if (column?.kind === 'field') return { ...column, chain: [...column.chain, ...rest] }
    if (column && rest.length === 0) return column
    if (column) throw new ViewMisfit(`The column ${first} of the view ${name} has no fields.`)
    if (hasAll) return { ...field, chain: [...(view.source.alias ? [view.source.alias] : []), ...chain] }
    if (parameters.has(first) || own.has(first)) return field
    throw new ViewMisfit(`The view ${name} has no column ${first}. It has ${[...columns.keys()].join(', ')}.`)
  }
  const inside = <E extends Expr>(expr: E): Expr => rewrite<Expr>(expr, (node) => (node.kind === 'field' ? replaced(node) : node))
  const column = (expr: Expr): Expr => {
    const made = inside(expr)
    return expr.kind === 'field' && made !== expr ? { kind: 'alias', expr: made, name: expr.chain.at(-1)!, span: expr.span } : made
  }
  const conditions = [statement.where, query.where && inside(query.where)].filter((one) => one !== null)
  return {
    ...query,
    columns: query.columns.map(column),
    from: view.source,
    where: conditions.length === 2 ? and(...conditions) : (conditions[0] ?? null),
  }
}
