import type { Question } from './question.ts'
import { funnels } from './questions/funnels.ts'
import { lists } from './questions/lists.ts'
import { paths } from './questions/paths.ts'
import { returns } from './questions/retention.ts'
import { trends } from './questions/trends.ts'
import { web } from './questions/web.ts'

/** The first one is also asked right after opening. */
export const questions: readonly Question[] = [...trends, ...lists, ...funnels, ...returns, ...paths, ...web]
