import { ApiError } from './api.ts'
import { errorInWords, misfitOf, placeInWords } from './error-words.ts'

// What is said beside a button that acts at once, and in a form where no field is about the error: the API names its own fields and records, people do not.

/** Names of the API in messages about actions. */
const names: Readonly<Record<string, string>> = {
  start_at: 'the start',
  end_at: 'the end',
  start_date: 'the start',
  until_date: 'the end',
  code_version: 'version of the code',
}
const spoken = (name: string) => names[name] ?? name.replaceAll('_', ' ')

/** Texts that are about a field, and do not say which one. */
const ofField =
  /^(?:This (?:field|attribute)|Ensure this|Not a valid|A valid|Must (?:be|provide)|Expected |Input should|Null characters|Enter a valid|"[^"]*" is not a valid)/
/** A record that the request names. */
const missing = /^(?:Invalid pk|Object with id=).* does not exist\.?$/s

const whole: readonly (readonly [is: (error: ApiError) => boolean, text: string])[] = [
  [({ message }) => /^Not found\.?$/.test(message), 'It does not exist any more, or you may not see it. Load the page again.'],
  [({ status }) => status === 405 || status === 406 || status === 415, 'The server does not know this action. Load the page again.'],
  [({ message }) => /^Invalid data\./.test(message), 'The server does not understand what this page sent. Load the page again.'],
]

/** Without the names that the API has for fields: those in quotes, and those of the error itself. */
function withoutNames(text: string, attr: string | null): string {
  const own = new Set([...(attr ?? '').split('__'), ...Object.keys(names)].filter((part) => part.includes('_')))
  const said = (name: string, at: number) => (at === 0 ? spoken(name).replace(/^./, (letter) => letter.toUpperCase()) : spoken(name))
  return text
    .replace(/(['`])([a-z]+(?:_[a-z0-9]+)+)\1/g, (_, __, name: string, at: number) => said(name, at))
    .replace(/\w+/g, (name, at: number) => (own.has(name) ? said(name, at) : name))
}

/** An error in the words of the page. */
export function refusalInWords(error: Error): string {
  if (!(error instanceof ApiError)) return errorInWords(error.message)
  const said = whole.find(([is]) => is(error))
  if (said) return said[1]
  const wait = /Expected available in (\d+ seconds?)/.exec(error.message)
  if (wait) return `Too many requests. Try again in ${wait[1]}.`
  if (misfitOf(error.message)) return errorInWords(error.message)
  const place = placeInWords((error.attr ?? '').split(/__|\./).filter((part) => part !== ''))
  const at = (problem: string) => (place === '' ? problem : `${place}: ${problem}`)
  if (missing.test(error.message)) return at('what was chosen does not exist any more. Load the page again.')
  return ofField.test(error.message) ? at(error.message) : withoutNames(error.message, error.attr)
}
