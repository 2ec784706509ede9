import { useMemo } from 'preact/hooks'
import { withBaseline } from '../../service/pictures/charts/funnels.ts'
import type { Answer, Query } from '../lib/api.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { objectIn, withField } from './query.ts'

/** Whether the steps of a funnel are split, so that there is something to compare each value with. */
const isSplit = (query: Query): boolean => {
  const filter = objectIn(query, 'breakdownFilter')
  const isOfSteps = (objectIn(query, 'funnelsFilter').funnelVizType ?? 'steps') === 'steps'
  return query.kind === 'FunnelsQuery' && isOfSteps && (filter.breakdown != null || filter.breakdowns != null)
}

/** The answer to a funnel with all together beside the values of its breakdown, once that is known: people of several values are in each of them, so their sum is not it. */
export function useBaseline(query: Query, answer: Answer, isWanted: boolean): Answer {
  const { ask } = useProject()
  const whole = withField(query, 'breakdownFilter', undefined)
  const key = isWanted && isSplit(query) ? JSON.stringify(whole) : ''
  const { value } = useLoaded(async (signal) => (key === '' ? null : { key, answer: await ask(whole, signal) }), [key])
  return useMemo(() => {
    // What is known may be of the question before.
    if (value?.key !== key || !Array.isArray(value.answer.results) || !Array.isArray(answer.results)) return answer
    return { ...answer, results: withBaseline(answer.results, value.answer.results) }
  }, [answer, value, key])
}
