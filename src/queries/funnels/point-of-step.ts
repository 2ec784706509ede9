import type { ActorPoint } from './in-engine/actors.ts'
import type { FunnelSettings } from './settings.ts'

/** `n`: reached step n. `-n`: reached the required step before it and not step n. Text: what is wrong with the number. */
export function pointOfStep(
  step: number | null | undefined,
  { steps, optional }: FunnelSettings,
): Extract<ActorPoint, { kind: 'step' }> | string {
  if (step == null) return 'Set funnelStep: 1 is the first step, -2 are those who dropped off before the second.'
  if (step === 0 || step === -1) return `Invalid funnelStep ${step}: 1 is the first step, -2 the first drop-off.`
  if (Math.abs(step) > steps) return `The funnel has ${steps} steps, so there is no funnelStep ${step}.`
  if (step > 0) return { kind: 'step', reached: step - 1, missed: null }
  let reached = -step - 2
  while ((optional & (1 << reached)) !== 0) reached--
  return { kind: 'step', reached, missed: -step - 1 }
}
