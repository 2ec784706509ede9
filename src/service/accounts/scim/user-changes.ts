import { isObject } from '../../../lib/is-object.ts'
import { storableText } from '../../../lib/text/storable-text.ts'
import { type Step, stepsOf } from './operations.ts'
import { refused } from './refusals.ts'

/** What a request says of a user: attributes that it does not name are missing. Others than these are ignored: identity providers send titles, telephone numbers, roles, passwords. */
export interface UserChange {
  userName?: string
  active?: boolean
  externalId?: string | null
  displayName?: string | null
  givenName?: string
  familyName?: string
  workEmail?: string | null
}

const longestName = 150
const longestText = 400

const textOf = (value: unknown, name: string, most = longestText): string => {
  if (typeof value !== 'string') throw refused('invalidValue', `\`${name}\` must be a text.`)
  if (value.length > most || storableText(value) !== value || value.includes('\0'))
    throw refused('invalidValue', `\`${name}\` must have at most ${most} characters, without NUL characters and unpaired surrogates.`)
  return value
}
const textOrNull = (value: unknown, name: string): string | null => (value === null || value === '' ? null : textOf(value, name))
const nameOf = (value: unknown, name: string): string => (value === null ? '' : textOf(value, name, longestName).trim())

/** Entra ID sends `"False"`. */
const truthOf = (value: unknown): boolean => {
  if (typeof value === 'boolean') return value
  const word = typeof value === 'string' ? value.toLowerCase() : ''
  if (word === 'true' || word === 'false') return word === 'true'
  throw refused('invalidValue', '`active` must be true or false.')
}

/** The work address of a list, or its primary one. */
const emailIn = (value: unknown): string | null | undefined => {
  const all = (Array.isArray(value) ? value : [value]).filter(isObject) as Record<string, unknown>[]
  const typed = (wanted: string) => all.find(({ type }) => typeof type === 'string' && type.toLowerCase() === wanted)
  const found = typed('work') ?? all.find(({ primary }) => primary === true) ?? all.find(({ type }) => type === undefined)
  return found ? textOrNull(found.value, 'emails') : undefined
}

const names = (change: UserChange, sub: string | null, value: unknown): void => {
  if (sub === 'givenname') change.givenName = nameOf(value, 'name.givenName')
  else if (sub === 'familyname') change.familyName = nameOf(value, 'name.familyName')
  else if (sub === null && isObject(value))
    for (const { path, value: part } of stepsOf(value as Record<string, unknown>)) names(change, path.name, part)
}

const emails = (change: UserChange, { path: { where, sub }, value, kind }: Step): void => {
  // Others than the work address are not kept.
  const isWork = where === null || (where.name === 'type' && where.value === 'work') || (where.name === 'primary' && where.value !== false)
  if (!isWork) return
  if (kind === 'remove') change.workEmail = null
  else if (sub === 'value' || (where !== null && sub === null && typeof value === 'string')) change.workEmail = textOrNull(value, 'emails')
  else if (sub === null) {
    const found = emailIn(value)
    if (found !== undefined) change.workEmail = found
  }
}

export function userChangeOf(steps: readonly Step[]): UserChange {
  const change: UserChange = {}
  for (const step of steps) {
    const { path, kind } = step
    // What is removed has no value any more.
    const value = kind === 'remove' ? null : step.value
    switch (path.name) {
      case 'username':
        change.userName = textOf(value, 'userName')
        break
      case 'active':
        change.active = truthOf(value)
        break
      case 'externalid':
        change.externalId = textOrNull(value, 'externalId')
        break
      case 'displayname':
        change.displayName = textOrNull(value, 'displayName')
        break
      case 'name':
        if (kind === 'remove' && path.sub === null) Object.assign(change, { givenName: '', familyName: '' })
        else names(change, path.sub, value)
        break
      case 'emails':
        emails(change, step)
        break
    }
  }
  return change
}
