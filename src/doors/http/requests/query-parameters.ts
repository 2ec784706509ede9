import { likelyName } from '../../../lib/text/likely-name.ts'
import { invalid } from '../../../service/accounts/refusals.ts'
import type { Row } from '../resource.ts'
import { paging } from './pages.ts'
import type { QueryParameter } from './query-parameter.ts'

// The parameters of a URL are declared by the row of the route. One that is not declared, or that is sent twice where one value is expected, would be
// dropped without a word, and the answer would be about something else than was asked: so it is refused, with its name.

export const parametersOf = ({
  isPaged,
  queryParameters,
}: Pick<Row, 'isPaged' | 'queryParameters'>): Readonly<Record<string, QueryParameter>> => ({
  ...(isPaged ? paging : {}),
  ...queryParameters,
})

interface Effectless {
  /** Null: any. */
  readonly values: readonly string[] | null
  readonly reason: string
}
/** Parameters that every route takes although they do not change its answer. */
export const effectless: Readonly<Record<string, Effectless>> = {
  personal_api_key: { values: null, reason: 'The API key, which is checked before the parameters' },
  _: { values: null, reason: 'The time, which jQuery and the browser client add to bypass caches' },
  token: { values: null, reason: "The project's public key, which client libraries add; the path names the project" },
  limit: {
    values: null,
    reason:
      'Clients that page through all lists send it; a list without pages returns everything, and pages with a cursor have a fixed size',
  },
  format: { values: ['json'], reason: 'Clients written for Django REST framework request the format by name; answers are JSON' },
}

const mostNamed = 12
const listed = (names: readonly string[]): string =>
  names.length > mostNamed ? `${names.slice(0, mostNamed).join(', ')} and ${names.length - mostNamed} more` : names.join(', ')
const longestShown = 60
const shown = (name: string): string => JSON.stringify(name.length > longestShown ? `${name.slice(0, longestShown)}…` : name)

/** Throws for the first parameter that the route does not have, or that was sent twice where one value is expected. */
export function checkParameters(row: Pick<Row, 'isPaged' | 'queryParameters' | 'ignoresParameters'>, query: URLSearchParams): void {
  if (row.ignoresParameters !== null || query.size === 0) return
  const known = parametersOf(row)
  const names = Object.keys(known)
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name)
    const parameter = Object.hasOwn(known, name) ? known[name] : undefined
    if (parameter !== undefined) {
      if (typeof parameter === 'string' && new Set(values).size > 1)
        throw invalid(`The parameter ${name} was sent ${values.length} times with different values. Expected one.`, name)
      continue
    }
    const harmless = Object.hasOwn(effectless, name) ? effectless[name]! : null
    if (harmless && (harmless.values === null || values.every((value) => harmless.values!.includes(value)))) continue
    throw invalid(unknown(name, names, harmless), name)
  }
}

function unknown(name: string, names: readonly string[], harmless: Effectless | null): string {
  if (harmless) return `The parameter ${name} must be ${harmless.values!.join(' or ')}: there is no other format here.`
  const likely = likelyName(name, names)
  const said = `There is no parameter ${shown(name)} here.`
  if (likely !== undefined) return `${said} Did you mean ${likely}?`
  return names.length === 0 ? `${said} This route takes none.` : `${said} This route takes ${listed(names)}.`
}
