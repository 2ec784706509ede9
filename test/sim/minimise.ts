import type { Act, Step } from './plan.ts'

/** A kind of failure: a smaller plan must fail in the same way. */
export const kindOf = (failure: string): string =>
  failure
    .replace(/^Error: /, '')
    .split(/[:{\d]/)[0]!
    .trim()

/** Leaves out of a failing plan what it fails without: steps, then acts and faults, then events. `fails` runs it; `most`: so often at most. */
export async function minimise(
  steps: readonly Step[],
  fails: (steps: readonly Step[]) => Promise<boolean>,
  most: number,
): Promise<readonly Step[]> {
  let left = most
  let smallest = steps
  const attempt = async (smaller: readonly Step[]) => {
    if (left-- <= 0 || !(await fails(smaller))) return false
    smallest = smaller
    return true
  }
  // The last step shows the failure, so the first ones go first, many at once.
  for (let size = Math.ceil(steps.length / 2); size >= 1 && left > 0; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let at = 0; at < smallest.length && left > 0; ) if (!(await attempt(smallest.toSpliced(at, size)))) at += size
  for (let i = smallest.length - 1; i >= 0 && left > 0; i--)
    for (const smaller of smallerSteps(smallest[i]!)) await attempt(smallest.with(i, smaller))
  for (let i = smallest.length - 1; i >= 0; i--)
    for (let act = (smallest[i]?.acts.length ?? 0) - 1; act >= 0; act--)
      for (let event = eventsOf(smallest[i]!.acts[act]!).length - 1; event >= 0 && left > 0; event--) {
        const one = smallest[i]!
        if (eventsOf(one.acts[act]!).length > 1)
          await attempt(smallest.with(i, { ...one, acts: one.acts.with(act, without(one.acts[act]!, event)) }))
      }
  return smallest
}

function* smallerSteps(step: Step): Generator<Step> {
  if (step.fault && step.acts.length > 0) yield { seed: step.seed, acts: step.acts }
  for (const [i] of step.acts.entries()) if (step.acts.length > 1) yield { ...step, acts: step.acts.toSpliced(i, 1) }
}

const eventsOf = ({ act }: Act): readonly unknown[] => (act as { readonly events?: readonly unknown[] }).events ?? []
const without = (one: Act, event: number): Act => ({ ...one, act: { ...(one.act as object), events: eventsOf(one).toSpliced(event, 1) } })
