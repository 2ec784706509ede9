import type { Call } from '../../statements/nodes.ts'
import { SqlError, unsupported } from '../../statements/sql-error.ts'
import { decided } from '../coerce.ts'
import type { Scope } from '../scope.ts'
import { textOf } from '../texts.ts'
import type { Translator } from '../translator.ts'
import type { Typed } from '../typed.ts'
import { aggregateFunctions } from './aggregates.ts'
import { dateFunctions } from './dates.ts'
import type { FunctionRow } from './row.ts'
import { scalarFunctions } from './scalars.ts'

const known: Readonly<Record<string, FunctionRow>> = Object.assign(Object.create(null), scalarFunctions, dateFunctions, aggregateFunctions)

/** Facts about the session, as constants. */
const sessionFacts: Readonly<Record<string, (context: Translator['context']) => string | null>> = Object.assign(Object.create(null), {
  current_database: ({ database }: Translator['context']) => database,
  current_catalog: ({ database }: Translator['context']) => database,
  current_schema: () => 'public',
  current_user: ({ user }: Translator['context']) => user,
  session_user: ({ user }: Translator['context']) => user,
  user: ({ user }: Translator['context']) => user,
  current_role: ({ user }: Translator['context']) => user,
})

/** A function of PostgreSQL, or of the language: `countIf`, `toStartOfWeek`. */
export function callFunction(call: Call, scope: Scope, translator: Translator): Typed {
  const { context } = translator
  const fact = sessionFacts[call.name]
  if (fact && call.args.length === 0) {
    const text = fact(context)
    return { sql: text === null ? 'NULL' : textOf(text), type: 'text', nullable: false, at: call.at }
  }
  const args = call.args.map((arg) => translator.value(arg, scope))
  const order = call.orderBy.length > 0 ? ` order by ${translator.ordered(call.orderBy, scope)}` : ''
  const tail = translator.tail(call, scope)
  const row = known[call.name]
  if (row) return row({ args, call, context, tail, order })
  return ofLanguage(
    call,
    args.map((arg) => decided(arg, 'text', context)),
    { order, tail },
  )
}

/** The engine decides what it is, and whether it exists. */
function ofLanguage(call: Call, args: readonly Typed[], { order, tail }: { readonly order: string; readonly tail: string }): Typed {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(call.written))
    throw new SqlError('42883', `function ${call.written} does not exist`, { offset: call.at })
  if (call.name === 'grouping') throw unsupported('GROUPING()', call.at)
  const inside = `${call.distinct ? 'distinct ' : ''}${args.map(({ sql }) => sql).join(', ')}${order}`
  return { sql: `${call.written}(${inside})${tail}`, type: 'other', nullable: true, at: call.at }
}
