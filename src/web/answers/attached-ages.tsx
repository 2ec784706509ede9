import type { Answer } from '../lib/api.ts'
import { Ago } from '../ui/ago.tsx'

/** How old the rows are that an answer has of tables beside the events. */
export function AttachedAges({ answer }: { answer: Pick<Answer, 'attached'> | null | undefined }) {
  const ages = answer?.attached ?? []
  if (ages.length === 0) return null
  return (
    <p class="note">
      {ages.map(({ table, as_of }, i) => (
        <>
          {i > 0 && ', '}
          {table} is from <Ago of={as_of} />
        </>
      ))}
      .
    </p>
  )
}
