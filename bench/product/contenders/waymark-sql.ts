import type { Contender } from '../contender.ts'
import { waymark } from './waymark.ts'

export const waymarkSql: Contender = waymark({
  name: 'Waymark (SQL)',
  layout:
    'as open({ listMemory: 0 }) keeps them: the log of seven days, persons merged by Waymark itself, properties as JSON text with typed columns that it chooses',
  options: { listMemory: 0 },
})
