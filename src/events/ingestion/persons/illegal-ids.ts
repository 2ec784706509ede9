import { isVisitorId } from '../cookieless/visitor.ts'

// Ids that clients send by mistake for many different users. A merge with one of them would join unrelated persons.

const inAnyCase: ReadonlySet<string> = new Set([
  'anonymous',
  'guest',
  'distinctid',
  'distinct_id',
  'id',
  'not_authenticated',
  'email',
  'undefined',
  'true',
  'false',
])
const inThisCase: ReadonlySet<string> = new Set(['[object Object]', 'NaN', 'None', 'none', 'null', '0', 'undefined'])

export function isIllegalId(id: string): boolean {
  if (id.trim() === '' || isVisitorId(id)) return true
  const bare = /^(['"]).*\1$/.test(id) ? id.slice(1, -1) : id
  return inThisCase.has(bare) || inAnyCase.has(bare.toLowerCase())
}
