import { WaymarkError } from '../../errors/errors.ts'

/** The allowed values: all of them (`allowed`), or the most similar ones (`candidates`). */
export interface Choices {
  readonly allowed?: readonly string[] | undefined
  readonly candidates?: readonly string[] | undefined
}

export const invalid = (message: string, attr: string | null = null, rule = 'invalid_input', choices: Choices = {}) =>
  new WaymarkError('invalid-value', { message, rule, attr, ...choices })
/** What is wrong with an item of a list: `attr` says which one, as `2__target_email`. */
export function ofItem(error: unknown, index: number): unknown {
  if (!(error instanceof WaymarkError) || error.code !== 'invalid-value') return error
  const { message, rule, attr, ...choices } = (error as WaymarkError<'invalid-value'>).data
  return invalid(message, attr === null ? String(index) : `${index}__${attr}`, rule, choices)
}

export const notAllowed = (message = 'You do not have permission to perform this action.') => new WaymarkError('not-allowed', { message })
export const notFound = (message = 'Not found.') => new WaymarkError('no-record', { message })
/** The row that a request is about. */
export const mustFind = async <T>(row: Promise<T | undefined>): Promise<T> => {
  const found = await row
  if (!found) throw notFound()
  return found
}
/** A field names a row that does not exist, or is not within reach. */
export const noSuch = (id: number | string | null, attr: string) =>
  invalid(`Invalid pk "${id}" - object does not exist.`, attr, 'does_not_exist')
export const conflicting = (message: string) => new WaymarkError('conflicting-request', { message })

export const levelTooLow = () => notAllowed('Your organization access level is insufficient.')
export const projectLevelTooLow = () => notAllowed("You don't have sufficient permissions in the project.")
export const noProjectAccess = () => notAllowed("You don't have access to the project.")
export const upgradeNeeded = (what: string) =>
  notAllowed(`You must upgrade your Waymark plan to be able to create and manage multiple ${what}.`)
