import type { Change, Saying } from './answer-in-words.ts'
import './answer-words.css'

const signs = { '-1': '▼', 0: '', 1: '▲' } as const
const looks = { '-1': 'down', 0: '', 1: 'up' } as const
/** Red where a rise is worse. */
const worse = { '-1': 'up', 0: '', 1: 'down' } as const

/** `▲ 18.4%`; nothing where nothing changed or there was nothing. */
export const ChangeSign = ({ of: { direction, by }, isRiseBad = false }: { of: Change; isRiseBad?: boolean | undefined }) =>
  by === '' ? null : (
    <span class={(isRiseBad ? worse : looks)[direction]}>
      {signs[direction]} {by}
    </span>
  )

/** The large numbers over a chart, each with what it counts and what it was. */
export function AnswerWords({ said }: { said: readonly Saying[] }) {
  if (said.length === 0) return null
  return (
    <ul class="answer-words" aria-label="In words">
      {said.map(({ value, about, change, isRiseBad }, i) => (
        <li key={i}>
          <span class="big">{value}</span>
          <span class="note">
            {about}
            {change && (
              <>
                {' '}
                <ChangeSign of={change} isRiseBad={isRiseBad} /> was {change.was}
              </>
            )}
          </span>
        </li>
      ))}
    </ul>
  )
}
