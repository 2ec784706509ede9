import type { ErrorData } from '../../errors/codes.ts'
import { QueryError } from '../../errors/errors.ts'
import { isSpanned } from '../../errors/span.ts'
import type { Query } from '../../language/ast/nodes.ts'
import { printQuery } from '../../language/dialects/printer.ts'
import { type CallAlone, callsAlone, castsIn } from '../../language/plan/calls-alone.ts'
import type { CallNode, TypedQuery } from '../../language/resolver/typed.ts'
import { arrayOf, isText, mapOf, type SqlType, scalar, typeName } from '../../language/types/types.ts'
import type { QueryContext } from '../../queries/kind.ts'
import { blamed } from './blame.ts'
import type { Compiled } from './compile.ts'
import type { RunOptions } from './ports.ts'
import type { QueryProject } from './query-context.ts'
import { inWords, statementOf } from './statements.ts'

// An engine that refuses the types of a statement gives no position. So each call runs alone, with arguments of other types, to learn what it accepts.

/** A statement with more calls is not searched. */
const mostSearched = 100

/** Each attempt is a statement that is scheduled like any other. */
export interface SearchLimits {
  readonly mostAsked: number
  readonly longestMs: number
}
const usualLimits: SearchLimits = { mostAsked: 200, longestMs: 5_000 }

/** The search has reached its limits, or its caller has left. */
class SearchEnded extends Error {}

const kinds: readonly (readonly [what: string, type: SqlType])[] = [
  ['a number', scalar('Int64')],
  ['text', scalar('String')],
  ['a time', { ...scalar('DateTime64'), parameters: [6] }],
  ['an interval', scalar('Interval')],
  ['a UUID', scalar('UUID')],
  ['an array of numbers', arrayOf(scalar('Int64'))],
  ['an array of texts', arrayOf(scalar('String'))],
  ['a map', mapOf(scalar('String'), scalar('Int64'))],
]

const suggestions: Readonly<Record<string, (shown: string) => string>> = {
  'a number': (shown) => `toFloat(${shown})`,
  text: (shown) => `toString(${shown})`,
  'a time': (shown) => `toDateTime(${shown})`,
  'an array of texts': (shown) => `JSONExtract(${shown}, 'Array(String)')`,
  'an array of numbers': (shown) => `JSONExtract(${shown}, 'Array(Float64)')`,
}

type Refuses = (query: TypedQuery) => Promise<QueryError | null>

/** The text of an error without its values, which differ. */
const wordsOf = (error: Error): string => error.message.replace(/'[^']*'|-?\d+/g, '?')

/** Null if the value is refused, and not its type. */
async function misfitIn({ call, with: changed }: CallAlone, refuses: Refuses, source: string | null): Promise<QueryError | null> {
  const { name, args, span } = call
  for (const [i, { type, span: argSpan, kind }] of args.entries()) {
    if (kind === 'lambda') continue
    const taken: string[] = []
    for (const [what, other] of kinds) {
      const query = changed(i, other)
      if (query && !(await refuses(query))) taken.push(what)
    }
    if (taken.length === 0) continue
    if (taken.includes('text') && isText(type)) return null
    const suggestion = taken.length === 1 && (isText(type) || taken[0] === 'text') ? suggestions[taken[0]!] : undefined
    const written = argSpan.origin?.text ?? source
    const shown =
      written !== null && isSpanned(argSpan) && argSpan.end - argSpan.start <= longestShown
        ? written.slice(argSpan.start, argSpan.end)
        : null
    const use = shown !== null && suggestion ? suggestion(shown) : null
    const data = { name, needs: taken.join(' or '), found: typeName(type), shown, use }
    return new QueryError('type-mismatch', data, isSpanned(argSpan) ? argSpan : span)
  }
  const message = `Type mismatch: ${name}(${args.map(({ type }) => typeName(type)).join(', ')})`
  return new QueryError('wrong-type', { message }, span)
}

const longestShown = 60

function asEnded(error: unknown): null {
  if (error instanceof SearchEnded) return null
  throw error
}

interface Refused {
  readonly compiled: Compiled
  readonly request: unknown
  readonly statement: Query
}

/** Attributes an engine's error to the call that caused it, if that call can be found. */
export async function explainedRefusal(
  error: unknown,
  { compiled, request, statement }: Refused,
  context: Pick<QueryContext, 'project' | 'now'>,
  project: Pick<QueryProject, 'dialect' | 'run'>,
  options: RunOptions,
  limits: SearchLimits = usualLimits,
): Promise<unknown> {
  const said = inWords(error, compiled, request, statement)
  const { query: source } = request as { readonly query?: unknown }
  const call = await refusedCall(
    said,
    compiled.resolved,
    typeof source === 'string' ? source : null,
    context,
    project,
    options,
    limits,
  ).catch(asEnded)
  return call ? blamed(call, request, statement) : said
}

async function refusedCall(
  error: unknown,
  query: TypedQuery,
  source: string | null,
  context: Pick<QueryContext, 'project' | 'now'>,
  { dialect, run }: Pick<QueryProject, 'dialect' | 'run'>,
  options: RunOptions,
  { mostAsked, longestMs }: SearchLimits,
): Promise<QueryError | null> {
  if (!(error instanceof QueryError) || error.code !== 'engine-refused' || error.span) return null
  const calls = callsAlone(query, mostSearched)
  if (calls === null) return null
  const { project, now } = context
  const over = AbortSignal.timeout(longestMs)
  const signal = options.signal ? AbortSignal.any([options.signal, over]) : over
  let asked = 0
  const refuses: Refuses = async (one) => {
    if (asked++ >= mostAsked) throw new SearchEnded()
    const printed = printQuery(one, dialect, { ...project, now: now.getTime() })
    const refused = await run(statementOf(printed, project.timezone), { ...options, signal }).then(
      () => null,
      (other: unknown) => (other instanceof QueryError ? other : null),
    )
    if (signal.aborted) throw new SearchEnded()
    return refused
  }
  const { outOfRange, isRaised } = error.data as ErrorData['engine-refused']
  const placed = ({ name, span }: CallNode) =>
    new QueryError('engine-refused', { message: `The result of '${name}' is out of range` }, span, { cause: error })
  const named = calls.filter(({ call }) => outOfRange?.includes(call.name))
  if (named.length === 1) return placed(named[0]!.call)
  const told = async (one: CallAlone) =>
    outOfRange
      ? placed(one.call)
      : ((isRaised ? null : await misfitIn(one, refuses, source).catch(asEnded)) ?? error.with({ span: one.call.span }))
  let likely: CallAlone | null = null
  for (const one of calls) {
    const other = await refuses(one.query)
    if (!other || other.code !== error.code || other.span) continue
    if (wordsOf(other) === wordsOf(error)) return told(one)
    likely ??= one
  }
  if (likely && !outOfRange) return told(likely)
  const [only, ...others] = [...calls.map(({ call }) => call), ...castsIn(query)]
  return only && others.length === 0 ? error.with({ span: only.span }) : null
}
