import { Cursor } from '../statements/cursor.ts'
import type { Token } from '../statements/lexer.ts'
import { readOnly, SqlError, unsupported } from '../statements/sql-error.ts'

// Statements that are no questions: settings, transactions, cursors.

export type Command =
  | { readonly kind: 'query' }
  | { readonly kind: 'set'; readonly name: string; readonly value: string | null; readonly tag: string }
  | { readonly kind: 'show'; readonly name: string | null }
  | { readonly kind: 'reset'; readonly name: string | null }
  | { readonly kind: 'begin' | 'commit' | 'rollback'; readonly tag: string }
  | { readonly kind: 'nothing'; readonly tag: string }
  | { readonly kind: 'discard'; readonly what: string }
  | { readonly kind: 'deallocate'; readonly name: string | null }
  | { readonly kind: 'declare'; readonly name: string; readonly query: readonly Token[] }
  | { readonly kind: 'fetch'; readonly name: string; readonly count: number; readonly moves: boolean }
  | { readonly kind: 'close'; readonly name: string | null }
  | { readonly kind: 'prepare'; readonly name: string; readonly types: readonly string[]; readonly query: readonly Token[] }
  | { readonly kind: 'execute'; readonly name: string; readonly values: readonly (string | null)[] }
  | { readonly kind: 'explain'; readonly query: readonly Token[] }

const writing: ReadonlySet<string> = new Set(
  'insert update delete merge truncate create alter drop grant revoke comment reindex cluster vacuum analyze refresh import security copy lock call do notify checkpoint load reassign'.split(
    ' ',
  ),
)
/** Accepted, since there is nothing to do. */
const idle: ReadonlySet<string> = new Set(['listen', 'unlisten'])

const settingOf = (token: Token): string => (token.kind === 'word' ? (token.raw ?? token.text) : token.text)

export function commandOf(tokens: readonly Token[]): Command {
  const cursor = new Cursor(tokens)
  const { kind, text, start } = cursor.peek()
  if (kind !== 'word') return { kind: 'query' }
  if (writing.has(text)) throw readOnly(writtenAs(tokens), start)
  if (idle.has(text)) return { kind: 'nothing', tag: text.toUpperCase() }
  const rule = rules[text]
  if (!rule) return text === 'with' ? withoutWriting(tokens) : { kind: 'query' }
  cursor.next()
  return rule(cursor, tokens)
}

/** `INSERT`, `CREATE TABLE`. */
const writtenAs = ([first, second]: readonly Token[]): string => {
  const isPair = ['create', 'alter', 'drop', 'comment', 'refresh'].includes(first!.text) && second?.kind === 'word'
  return (isPair ? `${first!.text} ${second.text}` : first!.text).toUpperCase()
}

/** `WITH x AS (DELETE …)` */
function withoutWriting(tokens: readonly Token[]): Command {
  const at = tokens.findIndex(
    ({ kind, text }, i) =>
      kind === 'word' &&
      ['insert', 'update', 'delete', 'merge'].includes(text) &&
      ['(', ')'].includes(tokens[i - 1]?.text ?? '') &&
      tokens[i + 1]?.kind === 'word',
  )
  if (at >= 0) throw readOnly(tokens[at]!.text.toUpperCase(), tokens[at]!.start)
  return { kind: 'query' }
}

const end = (cursor: Cursor, command: Command): Command => {
  cursor.needEnd()
  return command
}
const rest = (cursor: Cursor, tokens: readonly Token[]): readonly Token[] => tokens.slice(cursor.place)

type Rule = (cursor: Cursor, tokens: readonly Token[]) => Command

const transaction =
  (kind: 'begin' | 'commit' | 'rollback', tag: string): Rule =>
  (cursor, tokens) => {
    if (kind === 'rollback' && (cursor.takeWords('to') || cursor.takeWords('transaction', 'to') || cursor.takeWords('work', 'to')))
      return { kind: 'nothing', tag: 'ROLLBACK' }
    const modes = rest(cursor, tokens).map((token) => token.text)
    if (modes.includes('write') && modes.includes('read')) return { kind, tag }
    return { kind, tag }
  }

function set(cursor: Cursor): Command {
  if (!cursor.takeWords('session')) cursor.takeWords('local')
  if (cursor.isWord('characteristics') || cursor.isWord('transaction')) return { kind: 'nothing', tag: 'SET' }
  if (cursor.takeWords('authorization') || cursor.isWord('role') || cursor.isWord('constraints')) return { kind: 'nothing', tag: 'SET' }
  if (cursor.takeWords('names')) return end(cursor, { kind: 'set', name: 'client_encoding', value: settingOf(cursor.next()), tag: 'SET' })
  let name = cursor.takeWords('time', 'zone') ? 'timezone' : settingOf(cursor.next())
  while (cursor.takeMark('.')) name += `.${settingOf(cursor.next())}`
  if (!cursor.takeOperator('=')) cursor.takeWords('to')
  const values: string[] = []
  do {
    const sign = cursor.takeOperator('-') ? '-' : ''
    if (cursor.peek().kind === 'end') throw cursor.unexpected('a value')
    values.push(sign + settingOf(cursor.next()))
  } while (cursor.takeMark(','))
  const isDefault = values.length === 1 && values[0]!.toLowerCase() === 'default'
  return end(cursor, { kind: 'set', name, value: isDefault ? null : values.join(', '), tag: 'SET' })
}

function show(cursor: Cursor): Command {
  if (cursor.takeWords('all')) return { kind: 'show', name: null }
  if (cursor.takeWords('time', 'zone')) return { kind: 'show', name: 'TimeZone' }
  if (cursor.takeWords('transaction', 'isolation', 'level')) return { kind: 'show', name: 'transaction_isolation' }
  let name = settingOf(cursor.next())
  while (cursor.takeMark('.')) name += `.${settingOf(cursor.next())}`
  return end(cursor, { kind: 'show', name })
}

function declare(cursor: Cursor, tokens: readonly Token[]): Command {
  const name = cursor.next().text
  while (!cursor.isWord('for') && cursor.peek().kind === 'word') {
    if (cursor.isWord('scroll') && !tokens[cursor.place - 1]?.text.includes('no'))
      throw unsupported('a cursor that moves back', cursor.peek().start)
    cursor.next()
  }
  cursor.needWord('for')
  const query = rest(cursor, tokens)
  if (commandOf(query).kind !== 'query') throw cursor.unexpected('a query')
  return { kind: 'declare', name, query }
}

const all = Number.POSITIVE_INFINITY

function fetch(cursor: Cursor, moves: boolean): Command {
  let count = 1
  if (cursor.takeWords('next')) count = 1
  else if (cursor.takeWords('all')) count = all
  else if (cursor.takeWords('forward'))
    count = cursor.takeWords('all') ? all : cursor.peek().kind === 'number' ? Number(cursor.next().text) : 1
  else if (cursor.peek().kind === 'number') count = Number(cursor.next().text)
  else if (['prior', 'backward', 'absolute', 'relative', 'first', 'last'].some((word) => cursor.isWord(word)) || cursor.isOperator('-'))
    throw new SqlError('55000', 'cursor can only scan forward', { hint: 'Declare it again to read from its beginning.' })
  if (!cursor.takeWords('from')) cursor.takeWords('in')
  return end(cursor, { kind: 'fetch', name: cursor.next().text, count, moves })
}

function prepare(cursor: Cursor, tokens: readonly Token[]): Command {
  const name = cursor.next().text
  const types: string[] = []
  if (cursor.takeMark('('))
    while (!cursor.takeMark(')')) {
      types.push(cursor.next().text)
      cursor.takeMark(',')
    }
  cursor.needWord('as')
  return { kind: 'prepare', name, types, query: rest(cursor, tokens) }
}

function execute(cursor: Cursor): Command {
  const name = cursor.next().text
  const values: (string | null)[] = []
  if (cursor.takeMark('('))
    while (!cursor.takeMark(')')) {
      const sign = cursor.takeOperator('-') ? '-' : ''
      const token = cursor.next()
      if (token.kind === 'end') throw cursor.unexpected('")"')
      values.push(token.kind === 'word' && token.text === 'null' ? null : sign + token.text)
      cursor.takeMark(',')
    }
  return end(cursor, { kind: 'execute', name, values })
}

function explain(cursor: Cursor, tokens: readonly Token[]): Command {
  if (cursor.takeMark('(')) while (cursor.peek().kind !== 'end' && !cursor.takeMark(')')) cursor.next()
  while (cursor.takeWords('analyze') || cursor.takeWords('verbose'));
  return { kind: 'explain', query: rest(cursor, tokens) }
}

const rules: Readonly<Record<string, Rule>> = Object.assign(Object.create(null), {
  set,
  show,
  reset: (cursor: Cursor) => ({
    kind: 'reset',
    name: cursor.takeWords('all') ? null : cursor.takeWords('time', 'zone') ? 'timezone' : settingOf(cursor.next()),
  }),
  begin: transaction('begin', 'BEGIN'),
  start: transaction('begin', 'START TRANSACTION'),
  commit: transaction('commit', 'COMMIT'),
  end: transaction('commit', 'COMMIT'),
  rollback: transaction('rollback', 'ROLLBACK'),
  abort: transaction('rollback', 'ROLLBACK'),
  savepoint: () => ({ kind: 'nothing', tag: 'SAVEPOINT' }),
  release: () => ({ kind: 'nothing', tag: 'RELEASE' }),
  discard: (cursor: Cursor) => end(cursor, { kind: 'discard', what: cursor.next().text }),
  deallocate: (cursor: Cursor) => {
    cursor.takeWords('prepare')
    return end(cursor, { kind: 'deallocate', name: cursor.takeWords('all') ? null : cursor.next().text })
  },
  declare,
  fetch: (cursor: Cursor) => fetch(cursor, false),
  move: (cursor: Cursor) => fetch(cursor, true),
  close: (cursor: Cursor) => end(cursor, { kind: 'close', name: cursor.takeWords('all') ? null : cursor.next().text }),
  prepare,
  execute,
  explain,
})
