import type { ComponentChildren } from 'preact'
import type { Loaded } from '../lib/use-loaded.ts'
import { ErrorBox, Working } from './parts.tsx'

/** While another answer is computed, what is shown (`.answered`, `.result`) belongs to the question before: it is drawn weaker, and busy for those who hear the page. */
export const busy = (isBusy: boolean) => ({ 'aria-busy': isBusy, 'data-answer': '' })

/** What was loaded, or that it is being loaded, or why it was not. One rule for every answer that a new choice replaces. */
export function AnswerOf<T>({
  loaded: { value, error, isLoading, reload, cancel },
  class: className,
  children,
}: {
  loaded: Loaded<T>
  class?: string
  children: (value: T) => ComponentChildren
}) {
  return (
    <div class={className} {...busy(isLoading)}>
      {error && !isLoading ? (
        <ErrorBox error={error} retry={reload} />
      ) : value !== null ? (
        <div class="answered">{children(value)}</div>
      ) : (
        <Working what="Computing" look="chart" cancel={cancel} />
      )}
    </div>
  )
}
