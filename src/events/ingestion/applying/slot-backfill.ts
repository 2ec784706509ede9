import { InternalError } from '../../../errors/errors.ts'
import type { EventWriter } from '../ports.ts'
import type { ApplyFailures } from './apply-failures.ts'
import type { ApplyLoop } from './apply-loop.ts'

/** Scopes whose tables have slots. */
const filledScopes = ['event', 'person'] as const

/** Of a step that has too little memory: the pauses between them add up to some seconds. */
const mostRetries = 4
const shortage = 'Not enough memory to fill new property columns in stored events and persons. Queries read the JSON until then.'

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
      for (const step of steps) await this.run(step, isOver)
    }
    if (isOver()) return
    applier.keys.markReady(unready.flatMap(({ slots }) => slots.map(({ slot }) => slot)))
    loop.apply()
  }

  /** Retries a step that has too little memory: queries may have it meanwhile. After the last attempt the next commit begins anew. */
  private async run(step: () => Promise<void>, isOver: () => boolean): Promise<void> {
    for (let attempt = 0; !isOver(); attempt++) {
      try {
        return await this.loop.inTurn(step)
      } catch (error) {
        if (!this.writer.isTooMuch(error)) throw error
        const isLast = attempt === mostRetries
        if (isLast) throw new InternalError(`${shortage} It is retried after the next events.`, { cause: error })
        if (attempt === 0) this.report(new InternalError(`${shortage} It is retried.`, { cause: error }))
        await this.failures.pause(attempt)
      }
    }
  }
}
