import { placed, QueryError } from '../../errors/errors.ts'
import { noSpan, type Span } from '../../errors/span.ts'
import { own } from '../../lib/own.ts'
import { nearestSpellings } from '../../lib/text/spelling.ts'
import { call as buildCall, equals, field as fieldNode, inQuery, literal, select, table, tuple } from '../ast/build.ts'
import type { Access, Alias, Call, Cast, Expr, Field, In, Lambda, OrderItem, Query } from '../ast/nodes.ts'
import { endsPlanning } from '../ast/planning-budget.ts'
import { type ComputedField, computedFields } from '../catalog/computed-fields.ts'
import { expansions } from '../catalog/expansions.ts'
import { oneType } from '../functions/results.ts'
import type { FunctionRow } from '../functions/row.ts'
import { wholeCast } from '../functions/values/whole-casts.ts'
import { likelyTypes, parseType } from '../types/parse.ts'
import type { PropertyInfo } from '../types/property-info.ts'
import { propertyOf } from '../types/property-values.ts'
import { elementPosition, tupleIn } from '../types/tuple-elements.ts'
import { arrayOf, isNamed, isNullable, nullable, type SqlType, scalar, sizeOfType, tupleOf, unknownType } from '../types/types.ts'
import { checkArguments, checkComparison } from './argument-types.ts'
import { checkArray, entriesOf } from './arrays.ts'
import { jsonType } from './bindings.ts'
import { plainCall } from './call-node.ts'
import { builtCall, callNode, checkArity, findRow, isComparison } from './calls.ts'
import { constant, knownTruth, literalNode } from './constants.ts'
import { checkFolded, knows, outerOf, readOuter, resolveSubquery } from './correlation.ts'
import { checkClause } from './grouping.ts'
import { inArray, inItems, inQueryNode, type Sought } from './membership.ts'
import { checkParams } from './params.ts'
import { withColumns } from './property-columns.ts'
import { alike, ordered, readAs } from './property-values.ts'
import { type Outer, type Scope, withSources } from './scope.ts'
import { missing, type Session } from './session.ts'
import { aggregateIn, hasAggregate, hasWindow } from './shape.ts'
import { asTime } from './times.ts'
import { type ColumnNode, outputColumns, type TypedExpr, type TypedOrder } from './typed.ts'
import { resolveWindow, type WindowParts } from './windows.ts'

/** One step of a path below a value. With a dot it selects an element of a tuple, or of each tuple in an array. */
interface Step {
  readonly to: string | number
  readonly dotted: boolean
}
const namesAsSteps = (names: readonly string[]): Step[] => names.map((to) => ({ to, dotted: true }))

/** Nodes that are cheaper to resolve again than to look up. */
const leaves: ReadonlySet<Expr['kind']> = new Set(['literal', 'field', 'alias'])

export function resolveExpr(session: Session, expr: Expr, scope: Scope): TypedExpr {
  const resolved = leaves.has(expr.kind) ? null : session.resolvedIn(scope)
  const typed = resolved?.get(expr) ?? resolveNode(session, expr, scope)
  const size = sizeOfType(typed.type)
  session.budget.allow('types', size, expr.span)
  session.budget.spend('expressions', size, expr.span)
  resolved?.set(expr, typed)
  return typed
}

function resolveNode(session: Session, expr: Expr, scope: Scope): TypedExpr {
  switch (expr.kind) {
    case 'literal':
      return literalNode(expr)
    case 'field':
      return resolveField(session, expr, [], scope)
    case 'access':
      return resolveAccess(session, expr, scope)
    case 'call':
      return resolveCall(session, expr, scope)
    case 'cast':
      return resolveCast(session, expr, scope)
    case 'alias':
      return resolveAlias(session, expr, scope)
    case 'array': {
      const items = alike(resolveAll(session, expr.items, scope)).map((item) => readAs(item, 'text'))
      const types = items.map((i) => i.type)
      const type = placed(expr.span, () => oneType(types, 'The items of an array'))
      return { kind: 'array', items, type: arrayOf(type), span: expr.span }
    }
    case 'tuple': {
      const items = resolveAll(session, expr.items, scope).map((item) => readAs(item, 'text'))
      return { kind: 'tuple', items, type: tupleOf(items.map((i) => i.type)), span: expr.span }
    }
    case 'dict':
      return resolveExpr(session, spanned(buildCall('map', ...expr.entries.flatMap(({ key, value }) => [key, value])), expr.span), scope)
    case 'between': {
      const [low, high] = [buildCall('greaterOrEquals', expr.expr, expr.low), buildCall('lessOrEquals', expr.expr, expr.high)]
      const inside = spanned(buildCall('and', spanned(low, expr.span), spanned(high, expr.span)), expr.span)
      return resolveExpr(session, spanned(expr.not ? buildCall('not', inside) : inside, expr.span), scope)
    }
    case 'in':
      return resolveIn(session, expr, scope)
    case 'subquery':
      return scalarQuery(session, expr.query, scope, expr.span)
    case 'placeholder':
      throw new QueryError('unknown-placeholder', { name: expr.chain.join('.') }, expr.span)
    case 'lambda':
      throw new QueryError('wrong-type', { message: 'A lambda can only be an argument of a function that takes one' }, expr.span)
    case 'star':
    case 'columns':
      throw new QueryError('wrong-type', { message: 'A table cannot be used as a single value here' }, expr.span)
    case 'namedArgument':
      throw new QueryError('unsupported-syntax', { what: 'arguments by name' }, expr.span)
    case 'positional':
      throw new QueryError('unsupported-syntax', { what: `the positional reference #${expr.index}` }, expr.span)
    case 'tag': {
      if (expr.hasChildren) throw new QueryError('unsupported-syntax', { what: `the content of the tag <${expr.name}>` }, expr.span)
      const attributes = expr.attributes.flatMap((name, i) => [literal(name), expr.values[i]!])
      return resolveExpr(session, { ...tuple(literal('__hx_tag'), literal(expr.name), ...attributes), span: expr.span }, scope)
    }
  }
}

const spanned = (call: Call, span: Span): Call => ({ ...call, span })

/** Each part is resolved separately, so that several errors are reported at once. */
export const resolveAll = (session: Session, exprs: readonly Expr[], scope: Scope): TypedExpr[] =>
  exprs.map((expr) => attempt(session, expr, scope))

export function attempt(session: Session, expr: Expr, scope: Scope): TypedExpr {
  try {
    return resolveExpr(session, expr, scope)
  } catch (error) {
    session.note(error)
    return missing(expr.span)
  }
}

// --- names -------------------------------------------------------------------------------------

function resolveAlias(session: Session, expr: Alias, scope: Scope): TypedExpr {
  const known = scope.aliases.get(expr.name)
  if (known?.expr === expr.expr) return aliasValue(session, expr.name, scope) ?? resolveExpr(session, expr.expr, scope)
  return resolveExpr(session, expr.expr, scope)
}

/** The value of an alias of this select; undefined if there is none, or inside its own definition. */
export function aliasValue(session: Session, name: string, scope: Scope): TypedExpr | undefined {
  const alias = scope.aliases.get(name)
  if (!alias || alias.state === 'open') return undefined
  if (alias.state) return alias.state
  // An alias may be read many times: its error is reported once.
  if (alias.failure !== undefined) throw alias.failure
  alias.state = 'open'
  try {
    alias.state = resolveExpr(session, alias.expr, scope.parameters.size ? { ...scope, parameters: new Map() } : scope)
  } catch (error) {
    alias.state = null
    alias.failure = error
    throw error
  }
  return alias.state
}

/** A computed field of the row that a chain leads to. Statements cannot write the names of the tables that it reads, so these have no place in one. */
function resolveComputed(
  session: Session,
  computed: ComputedField,
  chain: readonly string[],
  span: Span,
  scope: Scope,
  before: readonly string[],
): TypedExpr {
  const linked = (...more: readonly string[]): Field => {
    const field: Field = { kind: 'field', chain: [...before, ...more], span: noSpan }
    try {
      resolveField(session, field, [], scope)
    } catch (error) {
      if (error instanceof QueryError && error.code === 'unknown-field')
        throw new QueryError('unknown-field', { name: chain.join('.'), candidates: [] }, span)
      throw error
    }
    return field
  }
  const value = computed((name) => ({ kind: 'field', chain: [...before, 'properties', name], span }), linked)
  return resolveExpr(session, value, scope)
}

function resolveField(session: Session, field: Field, more: readonly Step[], scope: Scope): TypedExpr {
  const { chain, span } = field
  const head = chain[0]!
  const parameter = scope.parameters.get(head)
  if (parameter)
    return applyPath(
      session,
      { kind: 'parameter', name: parameter.printed, type: parameter.type, span },
      [...namesAsSteps(chain.slice(1)), ...more],
      span,
    )

  const { last, before, isWithin } = computedName(chain, more)
  const computed = own(computedFields, last)
  const compute = (field: ComputedField) => resolveComputed(session, field, chain, span, scope, before)

  if (computed && isWithin && !scope.aliases.has(head)) return compute(computed)
  if (chain.length > 1) {
    const source = scope.sources.find((s) => s.name === head)
    if (computed && !source?.has(chain[1]!)) return compute(computed)
    if (source) {
      const { expr, used } = source.follow(chain.slice(1), span)
      return applyPath(session, expr, [...namesAsSteps(chain.slice(1 + used)), ...more], span)
    }
  }

  const owners = scope.sources.filter((s) => s.has(head))
  const fromAlias = aliasValue(session, head, scope)
  if (fromAlias && !(scope.isBeforeGrouping && owners.length && hasAggregate(fromAlias))) {
    const inner = scope.aggregate ? aggregateIn(fromAlias) : null
    if (inner) throw new QueryError('nested-aggregate', { outer: scope.aggregate!, inner: inner.name }, span)
    return applyPath(session, fromAlias, [...namesAsSteps(chain.slice(1)), ...more], span)
  }

  if (owners.length > 1) throw new QueryError('ambiguous-field', { name: head, tables: owners.map((s) => s.name ?? '(subquery)') }, span)
  if (owners[0]) {
    const { expr, used } = owners[0].follow(chain, span)
    return applyPath(session, expr, [...namesAsSteps(chain.slice(used)), ...more], span)
  }

  if (computed) return compute(computed)
  const named = scope.ctes.get(head)
  if (named?.kind === 'expression')
    return applyPath(
      session,
      resolveExpr(session, named.expr, withSources(named.scope, scope.sources)),
      [...namesAsSteps(chain.slice(1)), ...more],
      span,
    )

  const { outer } = scope
  const isTable = scope.sources.some((s) => s.name === head)
  const around = (from: Outer) =>
    applyPath(
      session,
      readOuter(from, field, (there) => resolveField(session, field, [], there)),
      more,
      span,
    )
  if (outer && !isTable && knows(outer.scope, field, false)) return around(outer)

  const leading = scope.sources.filter((s) => s.leadsToTable?.(head))
  if (leading.length > 1) throw new QueryError('ambiguous-field', { name: head, tables: leading.map((s) => s.name ?? '(subquery)') }, span)
  if (leading[0]) {
    const { expr, used } = leading[0].follow(chain, span)
    return applyPath(session, expr, [...namesAsSteps(chain.slice(used)), ...more], span)
  }

  if (isTable) throw new QueryError('table-as-column', { name: head }, span)
  if (outer && knows(outer.scope, field, true)) return around(outer)
  const { around: beyond } = scope
  const isHidden = beyond !== null && (beyond.parameters.has(head) || knows(beyond, field, false) || knows(beyond, field, true))
  if (isHidden)
    throw new QueryError('unknown-field', { name: chain.join('.'), hint: beyond.parameters.has(head) ? ofLambda : ofStatementAround }, span)
  const names = namesIn(scope)
  const paths = scope.sources.flatMap((source) => source.likelyNames(head)).filter((path) => !names.includes(path))
  const candidates = [...new Set([...paths, ...nearestSpellings(head, names)])].slice(0, 3)
  throw new QueryError('unknown-field', { name: chain.join('.'), candidates }, span)
}

const ofStatementAround =
  'It is a column of the outer query, which only EXISTS, IN and LATERAL can read: use `LEFT JOIN LATERAL (SELECT …) t ON true`, or join a grouped subquery.'
const ofLambda =
  'It is a parameter of the lambda around this subquery. A subquery cannot read lambda parameters: use ARRAY JOIN and a join.'

/** A computed field may also be read as one of the properties that it is computed from, `properties.$virt_is_bot`, or through the person of a table. */
function computedName(chain: Field['chain'], more: readonly Step[]): { last: string; before: readonly string[]; isWithin: boolean } {
  const [step] = more
  const isStep = chain.at(-1) === 'properties' && more.length === 1 && typeof step!.to === 'string'
  const [last, before] = isStep ? [step!.to as string, chain] : [chain.at(-1)!, chain.slice(0, -1)]
  if (before.at(-1) === 'properties') return { last, before: before.slice(0, -1), isWithin: true }
  return { last, before, isWithin: before.length > 1 && (before.at(-1) === 'person' || before.at(-1) === 'poe') }
}

/** Suggestions for an unknown name. */
const namesIn = ({ sources, aliases, outer }: Scope): string[] => [
  ...sources.flatMap((source) => [...source.names()]),
  ...aliases.keys(),
  ...(outer ? namesIn(outer.scope) : []),
]

function resolveAccess(session: Session, expr: Access, scope: Scope): TypedExpr {
  // Constant steps are collected down to the base, so that `properties.a[1].b` is one read.
  const steps: Step[] = []
  let base: Expr = expr
  while (base.kind === 'access') {
    const index: Expr = base.index
    if (index.kind !== 'literal' || !(index.type === 'int' || index.type === 'string')) break
    if (index.value === 0) throw new QueryError('zero-index', { example: 'array.1' }, index.span)
    const to = typeof index.value === 'bigint' ? Number(index.value) : (index.value as string | number)
    steps.unshift({ to, dotted: base.dotted })
    base = base.object
  }
  if (base.kind === 'access') {
    const object = resolveExpr(session, base.object, scope)
    const index = resolveExpr(session, base.index, scope)
    return applyPath(session, builtCall('arrayElement', [object, index], base.span), steps, expr.span)
  }
  if (base.kind === 'field') return resolveField(session, { ...base, span: expr.span }, steps, scope)
  return applyPath(session, resolveExpr(session, base, scope), steps, expr.span)
}

/** Below a value: an item, an element, or a value inside JSON. */
function applyPath(session: Session, expr: TypedExpr, path: readonly Step[], span: Span): TypedExpr {
  const [step, ...rest] = path
  if (!step) return expr
  const { type } = expr
  const { to } = step
  if (path.some((one) => one.to === 0 || one.to === '0')) throw new QueryError('zero-index', { example: 'array.1' }, span)
  if (isNamed(type, 'JSON', 'String', 'Property') || type.kind === 'unknown')
    return readJson(
      session,
      expr,
      path.map((one) => one.to),
      span,
    )
  const tuple = step.dotted ? tupleIn(type) : type
  if (tuple?.kind === 'tuple') {
    const position = elementPosition(tuple, to)
    if (position === null) {
      const { items, names = [] } = tuple
      const hint = `The tuple has ${items.length} elements${names.length > 0 ? `: ${names.join(', ')}` : ''}.`
      throw new QueryError('unknown-field', { name: String(to), candidates: names, hint }, span)
    }
    return applyPath(session, builtCall('tupleElement', [expr, constant(position, span)], span), rest, span)
  }
  if (type.kind === 'array' || type.kind === 'map') {
    const index = type.kind === 'array' && typeof to === 'string' && /^\d+$/.test(to) ? Number(to) : to
    return applyPath(session, builtCall('arrayElement', [expr, constant(index, span)], span), rest, span)
  }
  throw new QueryError('unknown-field', { name: String(to) }, span)
}

const defined = { Numeric: 'number', Boolean: 'boolean' } as const

function readJson(session: Session, expr: TypedExpr, path: readonly (string | number)[], span: Span): TypedExpr {
  const steps = path.map((step) => (typeof step === 'string' && /^[1-9]\d*$/.test(step) ? Number(step) : step))
  const scan = expr.kind === 'column' ? session.scans.get(expr.source) : undefined
  const behind = scan?.fieldOf(expr as ColumnNode)
  if (!scan || behind?.kind !== 'column' || !isNamed(behind.type, 'JSON')) {
    // A deeper read of the same document: `p.a.b` where `p` is an alias of a property.
    if (expr.kind === 'json') return { ...expr, path: [...expr.path, ...steps], span }
    return { kind: 'json', expr: readAs(expr, 'text'), path: steps, as: 'value', type: propertyOf({ numbers: 'marked', of: [] }), span }
  }
  const column = { ...(expr as ColumnNode), span }
  const isWhole = isNamed(expr.type, 'JSON')
  // A numeric key is no position in a document of named properties.
  const keys = isWhole ? [String(path[0]), ...steps.slice(1)] : steps
  const name = String(path[0])
  const scope = isWhole && path.length === 1 ? behind.properties : undefined
  const declared = scope && session.context.propertyType(scope, name)
  const numbers = (scope && session.context.propertyNumbers?.(scope, name)) ?? 'marked'
  const property: PropertyInfo = { numbers, of: scope ? [{ scope, name }] : [] }
  const made = <E extends TypedExpr>(expr: E): E => ({ ...expr, type: { ...expr.type, property } })
  if (declared === 'DateTime') return made(builtCall('toDateTime', [scan.readJson(column, keys, 'text', jsonType('text'))], span))
  if (declared) {
    const as = declared === 'String' ? 'text' : defined[declared]
    return made(scan.readJson(column, keys, as, jsonType(as)))
  }
  return scan.readJson(column, keys, heldAs[numbers], propertyOf(property))
}

/** How an undeclared property is read, by how its numbers are distinguished. */
const heldAs = { all: 'number', none: 'text', 'by-text': 'text', marked: 'value' } as const

// --- calls -------------------------------------------------------------------------------------

function resolveCall(session: Session, call: Call, scope: Scope): TypedExpr {
  const known = session.problems.length
  try {
    return resolvedCall(session, call, scope)
  } catch (error) {
    // An error about a call whose argument already failed only follows from that failure.
    const isOfArgument = session.problems.length > known && error instanceof QueryError && error.span === call.span
    if (isOfArgument && !endsPlanning(error)) return missing(call.span)
    throw error
  }
}

/** Without a day, the rate is that of the day of the statement. */
const withDay = (call: Call): Call =>
  call.name === 'convertCurrency' && call.args.length === 3
    ? { ...call, args: [...call.args, { ...buildCall('today'), span: call.span }] }
    : call

function resolvedCall(session: Session, asked: Call, scope: Scope): TypedExpr {
  const call = withDay(asked)
  const special = specialCalls[call.name]
  if (special) return special(session, call, scope)
  const { name, row } = findRow(call.name, call.span)
  const starless = row.kind === 'aggregate' ? { ...call, args: call.args.filter((arg) => arg.kind !== 'star') } : call
  const written = call.distinct && starless.args.length > 1 ? { ...starless, args: [distinctTuple(starless, name, row)] } : starless
  checkArity(written, name, row)

  const isAggregate = row.kind === 'aggregate' && call.over === null
  if (isAggregate && scope.aggregate) throw new QueryError('nested-aggregate', { outer: scope.aggregate, inner: call.name }, call.span)
  if (row.kind === 'window' && call.over === null)
    throw new QueryError('wrong-type', { message: `Window function '${name}' needs OVER (…)` }, call.span)
  const inner: Scope = isAggregate ? { ...scope, aggregate: call.name, isBeforeGrouping: true } : scope

  let args = resolveArgs(session, written, row.lambdas, inner)
  checkArguments(name, row, args, written.args, call.span)
  if (isAggregate && scope.outer) checkFolded(call, args, scope)
  if (isComparison(name) && args.length === 2) {
    const [a, b] = args as [TypedExpr, TypedExpr]
    const zone = session.context.project.timezone
    args = [asTime(a, b, zone), asTime(b, a, zone)]
    checkComparison(name, args, written.args, call.span)
  }
  if (name === 'and' || name === 'or') {
    const folded = foldLogic(name, args, call.span)
    if (folded) return folded
    args = args.filter((arg) => knownTruth(arg) === null)
    if (args.length === 1 && isNamed(args[0]!.type, 'Bool')) return args[0]!
    if (args.length === 1) args = [args[0]!, constant(name === 'and', call.span)]
  }
  const params = call.params ? resolveAll(session, call.params, { ...scope, sources: [] }) : []
  checkParams(name, row, params, call.params ?? [])
  const orderBy = call.orderBy.map((item) => resolveOrder(session, item, inner))
  const filter = call.filter ? resolveExpr(session, call.filter, inner) : null
  const over = call.over ? resolveWindow(call.over, scope, windowParts(session)) : null
  if (isAggregate || over || row.seesRows) {
    const ordered = [...orderBy, ...(over?.orderBy ?? [])].map(({ expr }) => expr)
    for (const part of [...args, filter, ...ordered, ...(over?.partitionBy ?? [])]) checkClause(session, `'${name}'`, part, true)
  }
  return callNode(name, row, { args, params, distinct: call.distinct, orderBy, filter, ignoreNulls: call.ignoreNulls, over }, call.span)
}

/** `count(DISTINCT a, b)` counts tuples. */
function distinctTuple({ args, span }: Call, name: string, { args: [least], params = [0, 0] }: FunctionRow): Expr {
  if (least > 1 || params[0] > 0)
    throw new QueryError(
      'wrong-type',
      {
        message: `'${name}' takes separate arguments, but DISTINCT makes one tuple of them. Leave DISTINCT out`,
        expected: 'a call without DISTINCT',
      },
      span,
    )
  return { kind: 'tuple', items: args, span }
}

/** `x AND 0` is 0, whatever x is. */
function foldLogic(name: 'and' | 'or', args: readonly TypedExpr[], span: Span): TypedExpr | null {
  const decisive = name === 'or'
  const truths = args.map(knownTruth)
  if (truths.includes(decisive)) return constant(decisive, span)
  return truths.every((t) => t !== null) ? constant(!decisive, span) : null
}

function resolveArgs(
  session: Session,
  call: Call,
  lambdas: ((args: readonly SqlType[]) => readonly (readonly SqlType[] | null)[]) | undefined,
  scope: Scope,
): TypedExpr[] {
  if (!call.args.some((arg) => arg.kind === 'lambda')) {
    const args = resolveAll(session, call.args, scope)
    const isMissing = args.length > 1 && lambdas?.(args.map(({ type }) => type))[0]
    if (isMissing) throw new QueryError('wrong-type', { message: `'${call.name}' needs a lambda as its first argument` }, args[0]!.span)
    return args
  }
  const plain = call.args.map((arg) => (arg.kind === 'lambda' ? null : attempt(session, arg, scope)))
  const types = plain.map((arg) => arg?.type ?? unknownType)
  const given = lambdas?.(types) ?? []
  return call.args.map((arg, i) => {
    if (arg.kind !== 'lambda') return plain[i]!
    const params = given[i]
    if (!params) throw new QueryError('wrong-type', { message: `'${call.name}' does not take a lambda as this argument` }, arg.span)
    return resolveLambda(session, arg, params, scope)
  })
}

function resolveLambda(session: Session, lambda: Lambda, types: readonly SqlType[], scope: Scope): TypedExpr {
  const parameters = new Map(scope.parameters)
  const printed = lambda.params.map((name, i) => {
    // Named by depth, not by a counter: the same lambda in GROUP BY and in the select list must print identically.
    const own = `${/^[A-Za-z_]\w*$/.test(name) ? name : 'x'}_${scope.parameters.size + i}`
    parameters.set(name, { printed: own, type: types[i] ?? unknownType })
    return own
  })
  const body = resolveExpr(session, lambda.body, { ...scope, parameters })
  if (hasWindow(body)) throw new QueryError('invalid-query', { message: 'A lambda cannot contain a window function' }, lambda.span)
  return { kind: 'lambda', params: printed, body, type: { kind: 'lambda', result: body.type }, span: lambda.span }
}

type SpecialCall = (session: Session, call: Call, scope: Scope) => TypedExpr

/** Calls that do more than compute a value from values. */
const specialCalls: Readonly<Record<string, SpecialCall | undefined>> = Object.assign(Object.create(null), {
  arrayJoin(session, call, scope) {
    if (call.args.length !== 1)
      throw new QueryError('wrong-arity', { name: call.name, kind: 'Function', min: 1, max: 1, found: call.args.length }, call.span)
    const expr = entriesOf(resolveExpr(session, call.args[0]!, scope))
    checkClause(session, "'arrayJoin'", expr, true)
    checkArray('arrayJoin', expr, call.args[0]!)
    const type = expr.type.kind === 'array' ? expr.type.item : unknownType
    return { kind: 'arrayJoin', expr: readAs(expr, 'text'), type, span: call.span }
  },
  exists(session, call, scope) {
    const [query] = call.args
    if (call.args.length !== 1 || query?.kind !== 'subquery')
      throw new QueryError('wrong-type', { message: "'exists' takes a subquery" }, call.span)
    const { query: typed, outer } = resolveSubquery(session, query.query, scope)
    return { kind: 'exists', query: typed, ...outerOf(outer), type: scalar('Bool'), span: call.span }
  },
  ...Object.fromEntries(
    Object.entries(expansions).map(
      ([
        name,
        {
          args: [min, max],
          expand,
        },
      ]): [string, SpecialCall] => [
        name,
        (session, call, scope) => {
          const found = call.args.length
          if (found < min || found > max) throw new QueryError('wrong-arity', { name, kind: 'Function', min, max, found }, call.span)
          return resolveExpr(session, expand(call.args), scope)
        },
      ],
    ),
  ),
  in: (session, call, scope) => inCall(session, call, scope, false),
  notIn: (session, call, scope) => inCall(session, call, scope, true),
  matchesAction(session, call, scope) {
    const [which] = call.args
    if (call.args.length !== 1)
      throw new QueryError('wrong-arity', { name: call.name, kind: 'Function', min: 1, max: 1, found: call.args.length }, call.span)
    const value = which?.kind === 'literal' ? which.value : null
    const key = typeof value === 'bigint' ? Number(value) : value
    if (typeof key !== 'number' && typeof key !== 'string')
      throw new QueryError('wrong-type', { message: "'matchesAction' takes the id or the name of an action" }, call.span)
    const condition = session.context.actionCondition?.(key)
    if (!condition) throw new QueryError('invalid-query', { message: `Could not find action: ${key}` }, call.span)
    return resolveExpr(session, condition, scope)
  },
} satisfies Record<string, SpecialCall>)

function inCall(session: Session, call: Call, scope: Scope, not: boolean): TypedExpr {
  const [expr, set] = call.args
  if (!expr || !set || call.args.length !== 2)
    throw new QueryError('wrong-arity', { name: call.name, kind: 'Function', min: 2, max: 2, found: call.args.length }, call.span)
  return resolveIn(session, { kind: 'in', expr, set, not, cohort: false, span: call.span }, scope)
}

/** A property becomes several order items: by kind, number and text. */
const windowParts = (session: Session): WindowParts => ({
  expr: (expr, scope) => resolveExpr(session, expr, scope),
  all: (exprs, scope) => resolveAll(session, exprs, scope),
  order: (item, scope) => resolveOrder(session, item, scope),
})

export const resolveOrderBy = (session: Session, items: readonly OrderItem[], scope: Scope): TypedOrder[] =>
  items.flatMap((item) => ordered(resolveOrder(session, item, scope)))

export const resolveOrder = (session: Session, item: OrderItem, scope: Scope): TypedOrder => {
  if (item.fill) throw new QueryError('unsupported-syntax', { what: 'WITH FILL' }, item.span)
  if (item.collate) throw new QueryError('unsupported-syntax', { what: 'COLLATE' }, item.span)
  return { expr: attempt(session, item.expr, scope), descending: item.descending, nulls: item.nulls ?? 'last' }
}

// --- casts, sets, subqueries --------------------------------------------------------------------

/** Casts to these types are the functions of the same meaning: invalid text becomes null. */
const castFunctions: Readonly<Record<string, string>> = {
  string: 'toString',
  text: 'toString',
  varchar: 'toString',
  char: 'toString',
  int: 'toInt',
  integer: 'toInt',
  bigint: 'toInt',
  smallint: 'toInt',
  tinyint: 'toInt',
  int8: 'toInt',
  int16: 'toInt',
  int32: 'toInt',
  int64: 'toInt',
  float: 'toFloat',
  float32: 'toFloat',
  float64: 'toFloat',
  double: 'toFloat',
  real: 'toFloat',
  bool: 'toBool',
  boolean: 'toBool',
  uuid: 'toUUID',
  date: 'toDate',
  datetime: 'toDateTime',
  timestamp: 'toDateTime',
}

function resolveCast(session: Session, cast: Cast, scope: Scope): TypedExpr {
  const name = cast.type.trim().toLowerCase()
  const inner = /^nullable\s*\((.*)\)$/.exec(name)?.[1] ?? name
  const target = Object.hasOwn(castFunctions, inner) ? castFunctions[inner] : undefined
  const expr = resolveExpr(session, cast.expr, scope)
  if (target) {
    const call = builtCall(target, [expr], cast.span)
    return call
  }
  const type = parseType(cast.type)
  if (!type) throw new QueryError('wrong-type', { message: `Unknown type: ${cast.type}`, candidates: likelyTypes(cast.type) }, cast.span)
  const keepsNull = isNullable(expr.type) || cast.isTry
  const value = readAs(expr, 'text')
  const whole = cast.isTry ? undefined : wholeCast(value.type, type)
  if (whole) {
    const call = plainCall('cast', whole, { args: [value] }, cast.span)
    return isNullable(type) ? { ...call, type: nullable(call.type) } : call
  }
  return { kind: 'cast', expr: value, isTry: cast.isTry, type: keepsNull ? nullable(type) : type, span: cast.span }
}

function resolveIn(session: Session, node: In, scope: Scope): TypedExpr {
  if (node.cohort) return resolveCohort(session, node, scope)
  const sought = soughtOf(session, node, scope)
  const { expr } = sought
  const set: Expr =
    node.set.kind === 'call' && node.set.name === 'tuple' ? { kind: 'tuple', items: node.set.args, span: node.set.span } : node.set
  if (set.kind === 'subquery') return inQueryNode(session, sought, resolveSubquery(session, set.query, scope))
  if (set.kind === 'field' && set.chain.length === 1 && scope.ctes.get(set.chain[0]!)?.kind === 'query') {
    const query = select({ columns: [{ kind: 'star', table: [], exclude: [], replace: [], span: set.span }], from: table(set.chain[0]!) })
    return inQueryNode(session, sought, { query: session.query(query, scope), outer: [] })
  }
  const isTuple = expr.type.kind === 'tuple'
  if (set.kind === 'tuple' || set.kind === 'array') {
    const isOne =
      isTuple &&
      set.kind === 'tuple' &&
      !set.items.every((item) => item.kind === 'tuple' || (item.kind === 'call' && item.name === 'tuple'))
    const items = isOne ? [attempt(session, set, scope)] : resolveAll(session, set.items, scope)
    return inItems(
      sought,
      items.map((item) => asTime(item, expr, session.context.project.timezone)),
    )
  }
  const value = resolveExpr(session, set, scope)
  if (value.kind === 'array' || (value.kind === 'tuple' && !isTuple))
    return inItems(
      sought,
      value.items.map((item) => asTime(item, expr, session.context.project.timezone)),
    )
  if (value.type.kind === 'array') return inArray(sought, value)
  return inItems(sought, [asTime(value, expr, session.context.project.timezone)])
}

function soughtOf(session: Session, node: In, scope: Scope): Sought {
  if (node.expr.kind !== 'tuple') return { expr: attempt(session, node.expr, scope), node }
  const parts = resolveAll(session, node.expr.items, scope)
  return { expr: { kind: 'tuple', items: parts, type: tupleOf(parts.map((part) => part.type)), span: node.expr.span }, node }
}

function resolveCohort(session: Session, node: In, scope: Scope): TypedExpr {
  const value = node.set.kind === 'literal' ? node.set.value : null
  const key = typeof value === 'bigint' ? Number(value) : value
  if (typeof key !== 'number' && typeof key !== 'string')
    throw new QueryError('wrong-type', { message: 'IN COHORT takes the id or the name of a cohort' }, node.set.span)
  const cohort = session.context.cohort(key)
  if (!cohort) throw new QueryError('unknown-cohort', { name: String(key) }, node.set.span)
  const members = select({
    columns: [fieldNode('person_id')],
    from: table('cohort_people'),
    where: equals(fieldNode('cohort_id'), literal(cohort.id)),
  })
  return resolveExpr(session, { ...inQuery(node.expr, members), not: node.not, span: node.span } as In, { ...scope, ctes: new Map() })
}

function scalarQuery(session: Session, query: Query, scope: Scope, span: Span): TypedExpr {
  const asked = session.query(query, scope)
  const isOne = outputColumns(asked).length === 1
  const typed = isOne ? asked : withColumns(session, asked, (expr) => readAs(expr, 'text'), span)
  const columns = outputColumns(typed)
  const type = columns.length === 1 ? nullable(columns[0]!.type) : tupleOf(columns.map((c) => c.type))
  return { kind: 'scalarQuery', query: typed, type, span }
}

export const isQuery = (node: Expr | Query): node is Query => node.kind === 'select' || node.kind === 'set'
