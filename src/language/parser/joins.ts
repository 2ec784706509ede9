import type { JoinStrictness, JoinType } from '../ast/nodes.ts'

const types: Readonly<Record<string, JoinType>> = {
  inner: 'inner',
  left: 'left',
  right: 'right',
  full: 'full',
  cross: 'cross',
  natural: 'natural',
  positional: 'positional',
}
const strictnesses: ReadonlySet<string> = new Set(['all', 'any', 'asof', 'semi', 'anti'] satisfies JoinStrictness[])

/** The join type that the words before JOIN define, in any order: `LEFT ANY`, `ANY LEFT OUTER`. A text explains why they are invalid. */
export function joinOf(words: readonly string[]): { type: JoinType; strictness: JoinStrictness | null } | string {
  let type: JoinType | null = null
  let strictness: JoinStrictness | null = null
  for (const [i, word] of words.entries()) {
    if (word === 'outer') {
      if (!['left', 'right', 'full'].includes(words[i - 1] ?? '')) return 'OUTER must follow LEFT, RIGHT or FULL'
    } else if (strictnesses.has(word)) {
      if (strictness) return `a join cannot be both ${strictness.toUpperCase()} and ${word.toUpperCase()}`
      strictness = word as JoinStrictness
    } else {
      if (type) return `a join cannot be both ${type.toUpperCase()} and ${word.toUpperCase()}`
      type = types[word]!
    }
  }
  return { type: type ?? 'inner', strictness }
}
