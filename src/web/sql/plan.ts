// The plan of a statement, as `explain` answers it, as a tree that can be read from the top: what comes last first.

export interface PlanStep {
  readonly title: string
  readonly details: readonly string[]
  readonly inner: readonly PlanStep[]
}

type Fields = Readonly<Record<string, unknown>>
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)
const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})
const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isFields) : [])

const operators: Readonly<Record<string, string>> = {
  equals: '=',
  notEquals: '≠',
  greater: '>',
  greaterOrEquals: '≥',
  less: '<',
  lessOrEquals: '≤',
  plus: '+',
  minus: '-',
  multiply: '*',
  divide: '/',
  like: 'LIKE',
  ilike: 'ILIKE',
  in: 'IN',
  notIn: 'NOT IN',
}
const longest = 160
const cut = (text: string) => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text)

/** An expression in one line. Kinds that are newer than this file show their name. */
export function expressionText(value: unknown, depth = 0): string {
  if (depth > 12) return '…'
  const node = fieldsOf(value)
  const inner = (one: unknown) => expressionText(one, depth + 1)
  const args = listOf(node.args)
  switch (node.kind) {
    case 'column':
      return `${node.source ? `${String(node.source)}.` : ''}${String(node.name)}`
    case 'constant':
    case 'literal':
      return typeof node.value === 'string' ? `'${node.value}'` : JSON.stringify(node.value ?? null)
    case 'call': {
      const name = String(node.name)
      if ((name === 'and' || name === 'or') && args.length > 1) return args.map((one) => `(${inner(one)})`).join(` ${name.toUpperCase()} `)
      const operator = Object.hasOwn(operators, name) ? operators[name] : undefined
      if (operator && args.length === 2) return `${inner(args[0])} ${operator} ${inner(args[1])}`
      return `${name}(${node.distinct === true ? 'DISTINCT ' : ''}${args.map(inner).join(', ')})${node.over ? ' OVER (…)' : ''}`
    }
    default: {
      const parts = Object.values(node)
        .flatMap((one) => (Array.isArray(one) ? one : [one]))
        .filter((one) => isFields(one) && typeof one.kind === 'string')
      return `${String(node.kind ?? '?')}(${parts.map(inner).join(', ')})`
    }
  }
}

const texts = (list: unknown): string[] => listOf(list).map((one) => cut(expressionText(one)))
const step = (title: string, details: readonly string[], inner: readonly PlanStep[]): PlanStep => ({ title, details, inner })

function sourceSteps(value: unknown): readonly PlanStep[] {
  const node = fieldsOf(value)
  switch (node.kind) {
    case 'scan': {
      const reads = listOf(node.reads).map(({ name }) => String(name))
      const sample = node.sample ? [`a sample: ${JSON.stringify(node.sample)}`] : []
      return [
        step(`Read ${String(node.table)}${named(node)}`, [...(reads.length > 0 ? [`columns: ${reads.join(', ')}`] : []), ...sample], []),
      ]
    }
    case 'derived':
      return [step(`Subquery${named(node)}`, [], querySteps(node.query))]
    case 'attached':
      return [step(`Read ${String(fieldsOf(node.table).name)}${named(node)}`, [], [])]
    case 'cteRef':
      return [step(`Read the result of ${String(node.name)}${named(node)}`, [], [])]
    case 'join':
      return [
        step(`Join (${String(node.type)})`, node.on ? [cut(`on ${expressionText(node.on)}`)] : [], [
          ...sourceSteps(node.left),
          ...sourceSteps(node.right),
        ]),
      ]
    case undefined:
      return []
    default: {
      const inner = Object.values(node).filter((one) => isFields(one) && typeof one.kind === 'string')
      return [
        step(
          `${String(node.kind)}${named(node)}`,
          [],
          inner.flatMap((one) => (isQuery(one) ? querySteps(one) : sourceSteps(one))),
        ),
      ]
    }
  }
}
const named = ({ alias, name, table }: Fields) => (typeof alias === 'string' && alias !== (name ?? table) ? ` as ${alias}` : '')
const isQuery = (value: unknown): boolean => ['select', 'set'].includes(String(fieldsOf(value).kind))

/** The steps of a query, each around the one before it. */
export function querySteps(value: unknown): readonly PlanStep[] {
  const node = fieldsOf(value)
  if (node.kind === 'set') {
    const parts = Object.values(node)
      .flatMap((one) => (Array.isArray(one) ? one : [one]))
      .filter(isQuery)
    return [step(String(node.operator ?? node.op ?? 'Union'), [], parts.flatMap(querySteps))]
  }
  if (node.kind !== 'select') return []
  let inner = sourceSteps(node.from)
  const around = (title: string, details: readonly string[]) => {
    inner = [step(title, details, inner)]
  }
  if (node.where) around('Keep rows', [cut(expressionText(node.where))])
  const group = fieldsOf(node.groupBy)
  if (node.groupBy) around('Group', texts(group.items))
  if (node.having) around('Keep groups', [cut(expressionText(node.having))])
  if (node.qualify) around('Keep rows of windows', [cut(expressionText(node.qualify))])
  const columns = listOf(node.columns).map(({ name, expr }) => {
    const text = expressionText(expr)
    return cut(text.endsWith(`.${String(name)}`) || text === name ? text : `${String(name)} = ${text}`)
  })
  around(node.distinct === true ? 'Select distinct' : 'Select', columns)
  const orders = listOf(node.orderBy).map((one) => cut(`${expressionText(one.expr)}${one.descending === true ? ' descending' : ''}`))
  if (orders.length > 0) around('Sort', orders)
  const by = fieldsOf(node.limitBy)
  if (node.limitBy) around('Limit by', [`${String(by.limit)} of each ${texts(by.by).join(', ')}`])
  const limit = fieldsOf(node.limit)
  if (node.limit)
    around('Limit', [
      `${String(limit.limit)} ${limit.limit === 1 ? 'row' : 'rows'}${Number(limit.offset) > 0 ? ` after ${String(limit.offset)}` : ''}`,
    ])
  const named = listOf(node.ctes).map((cte) => step(`With ${String(cte.name)}`, [], querySteps(cte.query)))
  return [...inner, ...named]
}
