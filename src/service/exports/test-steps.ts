import { isFault } from '../../errors/faults.ts'
import type { Json } from '../accounts/store.ts'
import type { Outside, TestStep } from './destinations/destination.ts'
import { failureOf } from './running/failure.ts'
import { destinationOf, withoutSecrets } from './settings.ts'

export interface TestedStep {
  readonly name: string
  readonly description: string
  readonly result: { readonly status: 'Passed' | 'Failed'; readonly message: string | null } | null
}

const longestStepMs = 30_000

const shown = ({ name, description }: TestStep): TestedStep => ({ name, description, result: null })

/** The checks of a destination, before any is run. */
export const testSteps = (type: string, outside: Outside): readonly TestedStep[] => destinationOf(type).steps({}, outside).map(shown)

/** Runs one check; null if there is none with that index. */
export async function runTestStep(type: string, settings: unknown, index: number, outside: Outside): Promise<TestedStep | null> {
  const step = destinationOf(type).steps(settings, outside)[index]
  if (!step) return null
  const signal = AbortSignal.timeout(longestStepMs)
  try {
    await step.run(signal)
    return { ...shown(step), result: { status: 'Passed', message: null } }
  } catch (error) {
    if (isFault(error)) throw error
    const message = signal.aborted ? `The check did not finish within ${longestStepMs / 1000} seconds.` : failureOf(error).message
    return { ...shown(step), result: { status: 'Failed', message: withoutSecrets(message, type, settings as Record<string, Json>) } }
  }
}
