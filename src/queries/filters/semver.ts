import { and, call, literal } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'

// Versions are compared number by number. A version is X.Y.Z with an optional leading v and an optional -pre or +build, which are ignored. Any other
// text is not a version, and matches no operator, not even a negated one.

type Version = readonly [major: number, minor: number, patch: number]
type Range = readonly [from: Version, below: Version]

const strict = '^v?[0-9]+\\.[0-9]+\\.[0-9]+(?:[-+].*)?$'
const part = (position: number) => `^v?${'[0-9]+\\.'.repeat(position)}([0-9]+)`

export const semverOperators = [
  'semver_eq',
  'semver_neq',
  'semver_gt',
  'semver_gte',
  'semver_lt',
  'semver_lte',
  'semver_tilde',
  'semver_caret',
  'semver_wildcard',
] as const
type SemverOperator = (typeof semverOperators)[number]

/** Null if the operator does not accept the value. */
export function semverCondition(text: Expr, operator: SemverOperator, value: string): Expr | null {
  const isVersion = call('match', text, literal(strict))
  const range = rangeOf(operator, value)
  if (range) return and(isVersion, compare(text, 'gte', range[0]), compare(text, 'lt', range[1]))
  const version = versionOf(value)
  if (!version) return null
  switch (operator) {
    case 'semver_eq':
      return and(isVersion, isEqual(text, version))
    case 'semver_neq':
      return and(isVersion, call('not', isEqual(text, version)))
    case 'semver_gt':
      return and(isVersion, compare(text, 'gt', version))
    case 'semver_gte':
      return and(isVersion, compare(text, 'gte', version))
    case 'semver_lt':
      return and(isVersion, compare(text, 'lt', version))
    case 'semver_lte':
      return and(isVersion, compare(text, 'lte', version))
    default:
      return null
  }
}

const versionOf = (text: string): Version | null => {
  const match = /^v?(\d+)\.(\d+)\.(\d+)(?:[-+].*)?$/.exec(text.trim())
  return match ? [Number(match[1]), Number(match[2]), Number(match[3])] : null
}

/** `~1.2.3` is [1.2.3, 1.3.0), `^0.2.3` is [0.2.3, 0.3.0), `1.2.*` is [1.2.0, 1.3.0). */
function rangeOf(operator: SemverOperator, text: string): Range | null {
  const match = /^v?(\d+)(?:\.(\d+|\*))?(?:\.(\d+|\*))?(?:[-+].*)?$/.exec(text.trim().replace(/^[~^]/, ''))
  if (!match) return null
  const isGiven = (given: string | undefined) => given !== undefined && given !== '*'
  const [major, minor, patch] = [1, 2, 3].map((i) => Number(isGiven(match[i]) ? match[i] : 0)) as [number, number, number]
  const from: Version = [major, minor, patch]
  const [nextMajor, nextMinor, nextPatch]: Version[] = [
    [major + 1, 0, 0],
    [major, minor + 1, 0],
    [major, minor, patch + 1],
  ]
  switch (operator) {
    case 'semver_tilde':
      return [from, isGiven(match[2]) ? nextMinor! : nextMajor!]
    case 'semver_caret':
      return [from, major > 0 || !isGiven(match[2]) ? nextMajor! : minor > 0 || !isGiven(match[3]) ? nextMinor! : nextPatch!]
    case 'semver_wildcard':
      return [from, !isGiven(match[2]) ? nextMajor! : !isGiven(match[3]) ? nextMinor! : nextPatch!]
    default:
      return null
  }
}

const number = (text: Expr, position: number): Expr => call('toInt', call('extract', text, literal(part(position))))
const isEqual = (text: Expr, version: Version): Expr => and(...version.map((n, i) => call('equals', number(text, i), literal(n))))

/** Compares part by part: the first difference decides. */
function compare(text: Expr, how: 'gt' | 'gte' | 'lt' | 'lte', version: Version): Expr {
  const [major, minor, patch] = version
  const step = how.startsWith('g') ? 'greater' : 'less'
  const last = { gt: 'greater', gte: 'greaterOrEquals', lt: 'less', lte: 'lessOrEquals' }[how]
  const [a, b, c] = [number(text, 0), number(text, 1), number(text, 2)]
  return call(
    'or',
    call(step, a, literal(major)),
    and(
      call('equals', a, literal(major)),
      call('or', call(step, b, literal(minor)), and(call('equals', b, literal(minor)), call(last, c, literal(patch)))),
    ),
  )
}
