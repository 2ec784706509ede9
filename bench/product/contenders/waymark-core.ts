import type { Contender } from '../contender.ts'
import { waymark } from './waymark.ts'

export const waymarkCore: Contender = waymark({
  name: 'Waymark (core)',
  layout:
    'as open() keeps them, and in memory as one list per person: trends and funnels are folded from the lists, the rest is asked by SQL',
  options: {},
})
