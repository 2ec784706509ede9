import type { EventWriter } from '../ports.ts'
import type { ApplyFailures } from './apply-failures.ts'
import type { ApplyLoop } from './apply-loop.ts'

/** Scopes whose tables have slots. */
const filledScopes = ['event', 'person'] as const

/** Fills new slots in existing rows, a few at a time, between transactions of new events. */
export class SlotBackfill {
  private readonly writer: EventWriter
  private readonly loop: ApplyLoop
  private readonly failures: ApplyFailures
  private readonly report: (error: unknown) => void
  private filling: Promise<void> | null = null

  constructor(writer: EventWriter, loop: ApplyLoop, failures: ApplyFailures, report: (error: unknown) => void) {
    this.writer = writer
    this.loop = loop
    this.failures = failures
    this.report = report
  }

  /** Starts a backfill if a slot is not filled yet. */
  look(): void {
    const { keys } = this.loop.applier
    if (this.filling || this.failures.isClosed || filledScopes.every((scope) => keys.unready(scope).length === 0)) return
    this.filling = this.fill()
      .catch((error: unknown) => this.report(error))
      .finally(() => {
        this.filling = null
      })
  }

  async settled(): Promise<void> {
    await this.filling
  }

  private async fill(): Promise<void> {
    const { loop, failures } = this
    const { applier } = loop
    const isOver = () => failures.isClosed || loop.applier !== applier
    const unready = filledScopes.map((scope) => ({ scope, slots: applier.keys.unready(scope) }))
    for (const { scope, slots } of unready) {
      if (slots.length === 0 || failures.isClosed) continue
      const toSeq = Math.max(...slots.map(({ slot }) => slot.unfilledTo))
      const steps = await this.writer.fillSteps(
        scope,
        slots.map(({ use }) => use),
        toSeq,
      )
      for (const step of steps) {
        if (isOver()) return
        await loop.inTurn(step)
      }
    }
    if (isOver()) return
    applier.keys.markReady(unready.flatMap(({ slots }) => slots.map(({ slot }) => slot)))
    loop.apply()
  }
}
