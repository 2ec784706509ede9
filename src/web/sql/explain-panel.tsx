import type { Answer } from '../lib/api.ts'
import { CopyButton } from '../ui/parts.tsx'
import { type PlanStep, querySteps } from './plan.ts'

interface Explained {
  readonly label?: string
  readonly statement?: string
  readonly plan?: unknown
  readonly sql?: string
  readonly params?: readonly unknown[]
}

function Steps({ of }: { of: readonly PlanStep[] }) {
  return (
    <ul class="plan">
      {of.map((step, i) => (
        <li key={i}>
          <strong>{step.title}</strong>
          {step.details.length > 0 && (
            <ul class="plan-details">
              {step.details.map((text, at) => (
                <li key={at}>
                  <code>{text}</code>
                </li>
              ))}
            </ul>
          )}
          {step.inner.length > 0 && <Steps of={step.inner} />}
        </li>
      ))}
    </ul>
  )
}

/** How a statement is carried out: from the last step down to the tables. */
export function ExplainPanel({ answer }: { answer: Answer }) {
  const parts = (Array.isArray(answer.explain) ? answer.explain : []) as readonly Explained[]
  const timings = (Array.isArray(answer.timings) ? answer.timings : []) as readonly { k: string; t: number }[]
  const total = timings.find(({ k }) => k === '.')
  return (
    <>
      {total && <p class="note">It took {Math.round(total.t * 1000)} ms. Read it from the bottom: tables come first, the answer last.</p>}
      {parts.map(({ statement, plan, sql, params }, i) => (
        <section key={i}>
          {plan !== undefined && <Steps of={querySteps(plan)} />}
          {statement !== undefined && (
            <details>
              <summary>The statement as it was read</summary>
              <pre tabIndex={0}>
                <code>{statement}</code>
              </pre>
            </details>
          )}
          {sql !== undefined && (
            <details>
              <summary>The SQL of the engine</summary>
              <pre tabIndex={0}>
                <code>{sql}</code>
              </pre>
              {params && params.length > 0 && <p class="note">Parameters: {params.map((one) => JSON.stringify(one)).join(', ')}</p>}
              <CopyButton text={sql} />
            </details>
          )}
        </section>
      ))}
    </>
  )
}
