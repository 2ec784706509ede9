import type { Cursor } from './cursor.ts'

/** Other spellings of types, in one word. */
const spellings: Readonly<Record<string, string>> = {
  int: 'int4',
  integer: 'int4',
  smallint: 'int2',
  bigint: 'int8',
  oid: 'int8',
  real: 'float4',
  float: 'float8',
  decimal: 'numeric',
  boolean: 'bool',
  string: 'text',
  char: 'varchar',
  character: 'varchar',
  bpchar: 'varchar',
  name: 'text',
  regclass: 'text',
  datetime: 'timestamp',
}

/** A type, read behind `::` or in CAST: its usual short name, with `[]` for arrays. */
export function typeName(cursor: Cursor): string {
  let { text } = cursor.next()
  if (cursor.isMark('.') && text === 'pg_catalog') {
    cursor.next()
    text = cursor.next().text
  }
  text = text.toLowerCase()
  if (text === 'double' && cursor.takeWords('precision')) text = 'float8'
  if (text === 'character' && cursor.takeWords('varying')) text = 'varchar'
  if (cursor.takeMark('(')) {
    while (!cursor.isMark(')') && cursor.peek().kind !== 'end') cursor.next()
    cursor.needMark(')')
  }
  if (text === 'timestamp' || text === 'time') {
    if (cursor.takeWords('with', 'time', 'zone')) text = `${text}tz`
    else cursor.takeWords('without', 'time', 'zone')
  }
  let name = spellings[text] ?? text
  while (cursor.isMark('[')) {
    cursor.next()
    if (cursor.peek().kind === 'number') cursor.next()
    cursor.needMark(']')
    if (!name.endsWith('[]')) name += '[]'
  }
  return name
}
