import { registry } from '../../../src/language/functions/registry.ts'
import type { Case } from '../../../src/language/functions/row.ts'
import { suffixCases } from './suffix-cases.ts'

/** The cases of a function: those of its row, and for an aggregate that a suffix makes those written down here. */
export const casesOf = (name: string): readonly Case[] => {
  const own = registry.get(name)?.cases ?? []
  return own.length > 0 ? own : (suffixCases[name] ?? [])
}
